// Light and dark. The colours are CSS variables with a value for both; this file reads them for
// canvases.

const kThemes = ["auto", "light", "dark"];

function applyTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function themePicker(changed) {
  return labelledSelect(
    "Colours",
    kThemes.map((theme) => ({ value: theme, text: theme })),
    choice("theme", "auto"),
    (theme) => {
      choose("theme", theme);
      applyTheme(theme);
      changed();
    },
    { id: "theme" },
  );
}

// The value of a CSS variable as the browser resolves it now. Read from the property
// `color` of an element, because a variable itself comes back as it was written.
function themeColour(name) {
  const probe = element("span", { style: `color: var(${name})`, hidden: true });
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

const kSeriesColours = 7;

// The curve of a run: the source model alone is grey, the first method has the accent colour.
function runStyle(run) {
  const others = report.runs.filter((other) => !isSourceOnly(other));
  if (!isSourceOnly(run)) return seriesStyle(others.indexOf(run));
  const number = report.runs.filter(isSourceOnly).indexOf(run);
  return { ...seriesStyle(number), variable: "--baseline", dash: [6, 3] };
}

// Colour, dash and mark of the i-th curve: 7, 3 and 5 have no common factor, so
// a hundred curves differ, and neighbours differ in colour and in mark.
function seriesStyle(index) {
  return {
    variable: `--series-${index % kSeriesColours}`,
    dash: [[], [7, 4], [2, 3]][Math.floor(index / kSeriesColours) % 3],
    mark: ["circle", "rect", "triangle", "rectRot", "crossRot"][index % 5],
  };
}

// One colour per class. A few classes get the colours made to be told apart; with many
// there are no such colours, and the golden angle at least parts neighbours.
function classColour(index, total, dark) {
  if (total <= kSeriesColours) return themeColour(`--series-${index % kSeriesColours}`);
  const hue = (index * 137.508) % 360;
  const lightness = (dark ? [62, 74] : [34, 48])[index % 2];
  return `hsl(${hue.toFixed(1)} 62% ${lightness}%)`;
}

let onPaper = false; // Paper is light, whatever the theme.

function isDark() {
  if (onPaper) return false;
  const theme = choice("theme", "auto");
  return theme === "auto" ? window.matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}
