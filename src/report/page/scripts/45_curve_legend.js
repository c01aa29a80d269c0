// The legend of curves: which runs are drawn, and how each looks.

// One legend for all charts of the section; taking off a tick hides the curve.
function curveLegend(charts) {
  const title = element("legend");
  const countShown = () => {
    const shown = report.runs.filter((run) => !isHidden(run)).length;
    title.textContent =
      shown === report.runs.length ? "Runs" : `Runs, ${shown} of ${report.runs.length} drawn`;
  };
  countShown();
  const show = (hidden) => {
    choose("hidden", hidden);
    countShown();
    redraw(charts);
  };
  const items = report.runs.map((run, index) => {
    const item = labelledCheckbox(runName(run), !isHidden(run), (shown) =>
      show(shown ? hiddenRuns().filter((id) => id !== run.id) : [...hiddenRuns(), run.id]),
    );
    item.querySelector("input").after(seriesMark(index));
    return item;
  });
  const all = (checked) => () => {
    for (const item of items) item.querySelector("input").checked = checked;
    show(checked ? [] : report.runs.map((run) => run.id));
  };
  if (!kHaveCharts || items.length < 2) return element("div", { hidden: true });
  return element(
    "fieldset",
    { class: "legend" },
    title,
    items,
    items.length > 4
      ? element(
          "span",
          { class: "screen-only" },
          button("All", all(true), { class: "small" }),
          " ",
          button("None", all(false), { class: "small" }),
        )
      : null,
  );
}

// A piece of the curve as it is drawn.
function seriesMark(index) {
  const { variable, dash, mark } = seriesStyle(index);
  const shapes = {
    circle: { d: "M16 4a4 4 0 1 0 .01 0z" },
    rect: { d: "M12.5 4.5h7v7h-7z" },
    triangle: { d: "M16 3.5l4.5 8h-9z" },
    rectRot: { d: "M16 3l5 5-5 5-5-5z" },
    crossRot: { d: "M12.5 4.5l7 7m0-7l-7 7" },
  };
  return svgElement(
    "svg",
    { width: 32, height: 16, viewBox: "0 0 32 16", "aria-hidden": "true", style: `color: var(${variable})` },
    svgElement("path", {
      d: "M1 8H31",
      stroke: "currentColor",
      "stroke-width": 2,
      "stroke-dasharray": dash.join(" ") || null,
    }),
    svgElement("path", {
      ...shapes[mark],
      fill: "currentColor",
      stroke: "currentColor",
      "stroke-width": mark === "crossRot" ? 2 : 0,
    }),
  );
}
