// Charts: a title, the drawing, and its numbers as a table and as CSV. Without the chart library,
// which proca can be built without, the table takes the place of the drawing.

const kHaveCharts = typeof Chart !== "undefined";
const kMostRowsShown = 300;

// `numbers` is {columns, rows}; `config()` returns Chart.js' configuration in the current colours.
// `minimumWidth` in pixels: a narrower page scrolls the chart in its own box. `controls` stand
// in the line of the title, `below` under the drawing.
function chartFigure(options) {
  const { title, numbers, config, height = 300, minimumWidth = 0, description, controls, below } = options;
  const table = element("div", { class: "numbers", hidden: kHaveCharts });
  const showTable = () => table.replaceChildren(numbersTable(title, numbers));
  const tools = element("span", { class: "tools" }, controls);
  const caption = element("figcaption", {}, element("span", { class: "title" }, title), tools);
  const figure = element("figure", { class: "chart" }, caption);
  if (kHaveCharts) {
    const canvas = element("canvas", {
      role: "img",
      "aria-label": `Chart: ${description ?? title}. Its numbers are in the table behind the button.`,
    });
    const style = `height: ${height}px; min-width: ${minimumWidth}px`;
    const box = element("div", { class: "canvas-box", style }, canvas);
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
    const text = `The first ${countText(shown.length)} of ${countText(rows.length)} rows; the CSV has all.`;
    table.append(paragraph(text, "aside"));
  }
  return table;
}

// What all charts have in common: no animation, and the page's own tooltips, whose lines
// `tooltip(item)` returns.
function chartOptions({ x, y, tooltip, interaction }) {
  const [line, muted, font] = [themeColour("--line"), themeColour("--muted"), { size: 12 }];
  const axis = ({ label, ticks, ...others } = {}) => ({
    grid: { color: line, borderColor: muted, drawTicks: true, tickLength: 4 },
    ticks: { color: muted, font, ...ticks },
    ...others,
    title: { display: Boolean(label), text: label, color: muted, font },
  });
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    interaction: interaction ?? { mode: "nearest", intersect: false },
    scales: { x: axis(x), y: axis(y) },
    plugins: {
      legend: { display: false },
      tooltip: { enabled: false, external: chartTooltip, callbacks: { title: () => [], label: tooltip } },
    },
  };
}

function chartTooltip({ chart, tooltip }) {
  if (tooltip.opacity === 0) return hideTooltip();
  const box = chart.canvas.getBoundingClientRect();
  const lines = [...(tooltip.title ?? []), ...tooltip.body.flatMap((part) => part.lines)];
  showTooltip(box.left + tooltip.caretX, box.top + tooltip.caretY, lines);
}

// A curve in the colour, dash and mark of a style (14_theme.js).
function curveDataset(style, label, data, others) {
  const colour = themeColour(style.variable);
  return {
    label,
    data,
    borderColor: colour,
    backgroundColor: colour,
    borderDash: style.dash,
    pointStyle: style.mark,
    ...others,
  };
}

if (kHaveCharts) Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
