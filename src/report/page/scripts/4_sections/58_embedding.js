// Features in two dimensions.

addSection({
  id: "embedding",
  title: "Features in two dimensions",
  short: "Features",
  how: "Points that lie close together look alike to the network: good features put the images and prototypes of a class around the centre of the same class in the source.",
  scope: "run",
  has: ({ seed }) => (seed?.steps ?? []).some((record) => record.embedding?.points?.x?.length > 0),
  render: embeddingSection,
});

function embeddingSection({ run, seed, step, record, column }) {
  const embedding = record?.embedding;
  if (!embedding?.points?.x?.length) {
    return emptyState(`No features of step ${step} were recorded for this run.`);
  }
  const target = embedding.kinds.indexOf("target");
  const isOfTarget = (index) => target < 0 || embedding.points.kind[index] === target;
  const sources = [
    { value: "label", text: "true class" },
    { value: "pseudo", text: "pseudo-label" },
    { value: "predicted", text: "predicted class" },
  ].filter(({ value }) =>
    (embedding.points[value] ?? []).some((label, index) => label >= 0 && isOfTarget(index)),
  );
  const by = (sources.find(({ value }) => value === choice("colour-by")) ?? sources[0])?.value;
  const labels = pointLabels(embedding, by);
  const known = [...new Set(labels)].filter((label) => label >= 0).sort((a, b) => a - b);
  const only = known.includes(choice("class")) ? choice("class") : null;
  const pickClass = (label) =>
    chooseIn("embedding", "class", label === null || label === only ? undefined : label);
  const pickSource = (value) => chooseIn("embedding", "colour-by", value);
  const classes = [
    { value: "", text: "all classes" },
    ...known.map((label) => ({ value: label, text: className(run, label) })),
  ];
  const highlight = (value) => pickClass(value === "" ? null : Number(value));
  const controls = [
    sources.length > 1 && labelledSelect("Colour by", sources, by, pickSource, { id: `colour-by-${column}` }),
    labelledSelect("Highlight", classes, only ?? "", highlight, { id: `highlight-${column}` }),
  ];
  return [
    embeddingFigure(run, seed, step, embedding, labels, only, controls),
    classButtons(run, targetLabels(embedding, labels), only, pickClass),
  ];
}

// Label of each point. A source centre or prototype has only one, of whatever kind.
function pointLabels({ points }, by) {
  const one = (index, key) => points[key]?.[index] ?? -1;
  return points.x.map((_, index) => {
    const label = by ? one(index, by) : -1;
    return label >= 0 ? label : Math.max(one(index, "label"), one(index, "pseudo"), one(index, "predicted"));
  });
}

function targetLabels({ kinds, points }, labels) {
  const target = kinds.indexOf("target");
  return [...new Set(labels.filter((label, index) => label >= 0 && points.kind[index] === target))].sort(
    (a, b) => a - b,
  );
}
