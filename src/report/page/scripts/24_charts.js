// Charts: a title, the drawing, and its numbers as a table and as CSV. Where the chart
// library was not there when proca was built, the table takes the place of the drawing.

const kHaveCharts = typeof Chart !== "undefined";
const kMostRowsShown = 300;

// `numbers` is {columns, rows}; `config()` makes Chart.js' configuration in today's colours.
// `minimumWidth` in pixels: a narrower page scrolls the chart in its own box. `controls` stand
// in the line of the title, `below` under the drawing.
function chartFigure({
  title,
  numbers,
  config,
  height = 300,
  minimumWidth = 0,
  description,
  controls,
  below,
}) {
  const table = element("div", { class: "numbers", hidden: kHaveCharts });
  const showTable = () => table.replaceChildren(numbersTable(title, numbers));
  const tools = element("span", { class: "tools" }, controls);
  const figure = element(
    "figure",
    { class: "chart" },
    element("figcaption", {}, element("span", { class: "title" }, title), tools),
  );
  if (kHaveCharts) {
    const canvas = element("canvas", {
      role: "img",
      "aria-label": `Chart: ${description ?? title}. Its numbers are in the table behind the button.`,
    });
    const box = element(
      "div",
      { class: "canvas-box", style: `height: ${height}px; min-width: ${minimumWidth}px` },
      canvas,
    );
    figure.append(minimumWidth > 0 ? scrollBox(title, box) : box);
    drawLazily(canvas, () => {
      const chart = new Chart(canvas, config());
      return () => chart.destroy();
    });
    tools.append(tableToggle(title, table, showTable));
  } else {
    showTable();
  }
  tools.append(csvButton(title, () => numbers));
  figure.append(...[below, table].filter(isKnown));
  return figure;
}

function tableToggle(title, table, showTable) {
  const toggle = button(
    "Table",
    () => {
      table.hidden = !table.hidden;
      if (!table.hidden) showTable();
      toggle.setAttribute("aria-expanded", String(!table.hidden));
    },
    { class: "small", "aria-expanded": "false", "aria-label": `Numbers as a table: ${title}` },
  );
  return toggle;
}

function numbersTable(name, { columns, rows }) {
  const shown = rows.slice(0, kMostRowsShown);
  const table = dataTable({
    name,
    rows: shown,
    download: false,
    columns: columns.map((title, index) => ({
      title,
      text: rows.some((row) => typeof row[index] === "string"),
      value: (row) => row[index],
      show: (row) =>
        typeof row[index] === "number" ? significant(row[index], 5) : String(row[index] ?? kNotKnown),
    })),
  });
  if (rows.length > shown.length) {
    table.append(
      paragraph(
        `The first ${countText(shown.length)} of ${countText(rows.length)} rows; the CSV has all.`,
        "aside",
      ),
    );
  }
  return table;
}

// What all charts have in common. Nothing moves, and tooltips are the page's own.
function chartOptions({ x, y, plugins, scales, interaction } = {}) {
  const axis = (options) => ({
    grid: {
      color: themeColour("--line"),
      borderColor: themeColour("--muted"),
      drawTicks: true,
      tickLength: 4,
    },
    ticks: { color: themeColour("--muted"), font: { size: 12 }, ...options?.ticks },
    ...Object.fromEntries(
      Object.entries(options ?? {}).filter(([key]) => key !== "ticks" && key !== "label"),
    ),
    title: {
      display: Boolean(options?.label),
      text: options?.label,
      color: themeColour("--muted"),
      font: { size: 12 },
    },
  });
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    interaction: interaction ?? { mode: "nearest", intersect: false },
    scales: { x: axis(x), y: axis(y), ...scales },
    plugins: { legend: { display: false }, tooltip: { enabled: false, external: chartTooltip }, ...plugins },
  };
}

function chartTooltip({ chart, tooltip }) {
  if (tooltip.opacity === 0) {
    hideTooltip();
    return;
  }
  const box = chart.canvas.getBoundingClientRect();
  const lines = [...(tooltip.title ?? []), ...tooltip.body.flatMap((part) => part.lines)];
  showTooltip(box.left + tooltip.caretX, box.top + tooltip.caretY, lines);
}

// Tooltips whose lines `lines(item)` says, with the theme's plugins kept.
function tooltipOf(lines) {
  return { enabled: false, external: chartTooltip, callbacks: { title: () => [], label: lines } };
}

if (kHaveCharts) Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
