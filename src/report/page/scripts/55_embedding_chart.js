// The points of the features.

const kKindLooks = {
  target: { mark: "circle", radius: 3 },
  prototype: { mark: "triangle", radius: 7 },
  "source centre": { mark: "rectRot", radius: 7 },
};
const kMostClassButtons = 24;

function embeddingFigure(run, seed, step, embedding, labels, only, controls) {
  const { points, kinds } = embedding;
  const name = (label) => (label >= 0 ? className(run, label) : kNotKnown);
  return chartFigure({
    title: `${embedding.method ?? "Two dimensions"} of the features, step ${step}`,
    description: `${countText(points.x.length)} features of ${runName(run)}${ofSeed(seed)}, after step ${step}`,
    numbers: {
      columns: ["x", "y", "kind", "label", "class", "pseudo", "predicted"],
      rows: points.x.map((x, index) => [
        x,
        points.y[index],
        kinds[points.kind[index]],
        points.label?.[index],
        name(labels[index]),
        points.pseudo?.[index],
        points.predicted?.[index],
      ]),
    },
    controls,
    height: 520,
    below: kindLegend(kinds.filter((_, kind) => points.kind.includes(kind))),
    config: () => embeddingConfig(run, embedding, labels, only),
  });
}

function embeddingConfig(run, { points, kinds }, labels, only) {
  const [dark, ink, faint] = [isDark(), themeColour("--ink"), themeColour("--faint")];
  const palette = Array.from({ length: numClasses(run) }, (_, label) =>
    classColour(label, numClasses(run), dark),
  );
  const colour = (index) =>
    labels[index] < 0 || (only !== null && labels[index] !== only) ? faint : palette[labels[index]];
  const datasets = kinds.map((kind, number) => {
    const look = kKindLooks[kind] ?? { mark: "rect", radius: 4 };
    // What is highlighted is drawn last, on top.
    const members = sortedRows(
      points.x.map((_, index) => index).filter((index) => points.kind[index] === number),
      (index) => Number(labels[index] === only),
      false,
    );
    return {
      members,
      label: kind,
      data: members.map((index) => ({ x: points.x[index], y: points.y[index] })),
      backgroundColor: members.map(colour),
      borderColor: kind === "target" ? members.map(colour) : ink,
      borderWidth: kind === "target" ? 0 : 1,
      pointStyle: look.mark,
      radius: look.radius,
      hoverRadius: look.radius + 2,
      order: kind === "target" ? 1 : 0,
    };
  });
  const name = (key, title, index) =>
    points[key]?.[index] >= 0 ? [`${title}: ${className(run, points[key][index])}`] : [];
  const lines = (item) => {
    const index = datasets[item.datasetIndex].members[item.dataIndex];
    return [
      item.dataset.label,
      ...name("label", "True class", index),
      ...name("pseudo", "Pseudo-label", index),
      ...name("predicted", "Predicted", index),
    ];
  };
  return {
    type: "scatter",
    data: { datasets },
    options: chartOptions({
      x: { ticks: { display: false }, grid: { display: false } },
      y: { ticks: { display: false }, grid: { display: false } },
      interaction: { mode: "nearest", intersect: true },
      plugins: { tooltip: tooltipOf(lines) },
    }),
  };
}

function kindLegend(kinds) {
  const shapes = {
    target: "M8 5a3 3 0 1 0 .01 0z",
    prototype: "M8 2l6 11H2z",
    "source centre": "M8 1l6 7-6 7-6-7z",
  };
  return element(
    "ul",
    { class: "outcomes" },
    kinds.map((kind) =>
      element(
        "li",
        {},
        svgElement(
          "svg",
          { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" },
          svgElement("path", { d: shapes[kind] ?? "M3 3h10v10H3z", fill: "currentColor" }),
        ),
        kind,
      ),
    ),
  );
}

// The classes of this step's images with their colours; pressing one highlights it.
function classButtons(run, labels, only, pickClass) {
  if (!kHaveCharts || labels.length === 0 || labels.length > kMostClassButtons)
    return element("div", { hidden: true });
  return element(
    "div",
    { class: "class-buttons", role: "group", "aria-label": "Highlight a class" },
    labels.map((label) =>
      button(
        [
          element("span", {
            class: "dot",
            style: `background: ${classColour(label, numClasses(run), isDark())}`,
          }),
          shortened(className(run, label), 30),
        ],
        () => pickClass(label),
        { class: "small", "aria-pressed": String(label === only) },
      ),
    ),
  );
}
