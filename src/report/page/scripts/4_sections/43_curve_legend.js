// The legend of the curves of runs: one for all charts of the section; unticking a run hides its
// curves.
function curveLegend(charts) {
  if (!kHaveCharts || report.runs.length < 2) return null;
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
  const items = report.runs.map((run) => {
    const item = labelledCheckbox(runName(run), !isHidden(run), (shown) =>
      show(shown ? hiddenRuns().filter((id) => id !== run.id) : [...hiddenRuns(), run.id]),
    );
    item.querySelector("input").after(seriesMark(runStyle(run)));
    return item;
  });
  const all = (checked) => () => {
    for (const item of items) item.querySelector("input").checked = checked;
    show(checked ? [] : report.runs.map((run) => run.id));
  };
  const [allButton, noneButton] = [
    button("All", all(true), { class: "small" }),
    button("None", all(false), { class: "small" }),
  ];
  const buttons = items.length > 4 && element("span", { class: "screen-only" }, allButton, " ", noneButton);
  return element("fieldset", { class: "legend" }, title, items, buttons);
}

// A part of the curve as it is drawn.
function seriesMark({ variable, dash, mark }) {
  const shapes = {
    circle: "M16 4a4 4 0 1 0 .01 0z",
    rect: "M12.5 4.5h7v7h-7z",
    triangle: "M16 3.5l4.5 8h-9z",
    rectRot: "M16 3l5 5-5 5-5-5z",
    crossRot: "M12.5 4.5l7 7m0-7l-7 7",
  };
  const line = { stroke: "currentColor", "stroke-width": 2 };
  const point = { fill: "currentColor", stroke: "currentColor", "stroke-width": mark === "crossRot" ? 2 : 0 };
  return svgElement(
    "svg",
    { width: 32, height: 16, viewBox: "0 0 32 16", "aria-hidden": "true", style: `color: var(${variable})` },
    svgElement("path", { d: "M1 8H31", ...line, "stroke-dasharray": dash.join(" ") || null }),
    svgElement("path", { d: shapes[mark], ...point }),
  );
}
