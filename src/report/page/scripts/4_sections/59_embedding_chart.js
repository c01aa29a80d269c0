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
    numbers: numbersOf(points.x, {
      x: (x) => x,
      y: (_, index) => points.y[index],
      kind: (_, index) => kinds[points.kind[index]],
      label: (_, index) => points.label?.[index],
      class: (_, index) => name(labels[index]),
      pseudo: (_, index) => points.pseudo?.[index],
      predicted: (_, index) => points.predicted?.[index],
    }),
    controls,
    height: 520,
    below: kindLegend(kinds.filter((_, kind) => points.kind.includes(kind))),
    config: () => embeddingConfig(run, embedding, labels, only),
  });
}

function embeddingConfig(run, { points, kinds }, labels, only) {
  const [dark, ink, faint] = [isDark(), themeColour("--ink"), themeColour("--faint")];
  const numClasses = run.classes?.length ?? 0;
  const palette = Array.from({ length: numClasses }, (_, label) => classColour(label, numClasses, dark));
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
    points[key]?.[index] >= 0 && `${title}: ${className(run, points[key][index])}`;
  const lines = (item) => {
    const index = datasets[item.datasetIndex].members[item.dataIndex];
    return [
      item.dataset.label,
      name("label", "True class", index),
      name("pseudo", "Pseudo-label", index),
      name("predicted", "Predicted", index),
    ].filter(Boolean);
  };
  return {
    type: "scatter",
    data: { datasets },
    options: chartOptions({
      x: { ticks: { display: false }, grid: { display: false } },
      y: { ticks: { display: false }, grid: { display: false } },
      interaction: { mode: "nearest", intersect: true },
      tooltip: lines,
    }),
    plugins: [clusterNames(namedClusters(run, { points, kinds }, labels, only))],
  };
}

// Every class at its target points, the most frequent first, or else at its other points. A
// highlighted class is named alone.
function namedClusters(run, { points, kinds }, labels, only) {
  const target = kinds.indexOf("target");
  const byClass = new Map();
  points.x.forEach((x, index) => {
    const label = labels[index];
    if (label < 0 || (only !== null && label !== only)) return;
    if (!byClass.has(label)) byClass.set(label, { label, target: [], others: [] });
    const place = { x, y: points.y[index] };
    byClass.get(label)[points.kind[index] === target ? "target" : "others"].push(place);
  });
  return [...byClass.values()]
    .sort((a, b) => b.target.length - a.target.length)
    .map((entry) => ({
      name: className(run, entry.label),
      places: entry.target.length > 0 ? entry.target : entry.others,
    }));
}

function kindLegend(kinds) {
  const shapes = {
    target: "M8 5a3 3 0 1 0 .01 0z",
    prototype: "M8 2l6 11H2z",
    "source centre": "M8 1l6 7-6 7-6-7z",
  };
  const box = { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" };
  const mark = (kind) => svgElement("path", { d: shapes[kind] ?? "M3 3h10v10H3z", fill: "currentColor" });
  const items = kinds.map((kind) => [svgElement("svg", box, mark(kind)), kind]);
  return list("outcomes", items);
}

// The classes of this step's images with their colours; pressing one highlights it.
function classButtons(run, labels, only, pickClass) {
  if (!kHaveCharts || labels.length === 0 || labels.length > kMostClassButtons) return [];
  const buttons = labels.map((label) => {
    const style = `background: ${classColour(label, run.classes?.length ?? 0, isDark())}`;
    const content = [element("span", { class: "dot", style }), shortened(className(run, label), 30)];
    const attributes = { class: "small", "aria-pressed": String(label === only) };
    return button(content, () => pickClass(label), attributes);
  });
  const attributes = { class: "class-buttons", role: "group", "aria-label": "Highlight a class" };
  return element("div", attributes, buttons);
}
