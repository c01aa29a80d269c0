// The images kept in memory.

const kOnlyLastPictures = "Pictures are kept of the last step only; of this one there are names and figures.";
const kImagesLeftOut =
  "A report of so many runs leaves out the images themselves; a report of this run alone has them.";

addSection({
  id: "prototypes",
  title: "Prototypes",
  how: "The images kept for each class after this step, with the network's probability for that class when they were kept. A frame with ✕ marks those that show another class, where labels are known; one with ≠ those that the network takes for another class.",
  scope: "run",
  has: ({ seed }) => (seed?.steps ?? []).some((record) => record.prototypes?.length > 0),
  render: prototypeSection,
});

function prototypeSection(view) {
  const { run, step, record, column } = view;
  const classes = record?.prototypes ?? [];
  if (classes.length === 0) {
    return emptyState(beforeSteps(view) ?? `There are no prototypes after step ${step}.`);
  }
  const name = titleOf("Prototypes", view);
  const images = classes.flatMap((entry) => entry.images ?? []);
  if (images.length === 0) return [paragraph(kImagesLeftOut, "finding"), prototypeTable(run, classes, name)];
  const count = (test) =>
    classes.reduce(
      (sum, entry) => sum + (entry.images ?? []).filter((image) => test(entry, image)).length,
      0,
    );
  const isMarked = (entry) =>
    (entry.images ?? []).some((image) => isWrong(entry, image) || isDoubted(entry, image));
  const onlyWrong = choice("only-wrong", false);
  const shown = onlyWrong ? classes.filter(isMarked) : classes;
  const labelled = images.some((image) => image.true_label >= 0);
  const sentence =
    `${plural(images.length, "image")} of ${plural(classes.length, "class", "classes")}; ` +
    (labelled ? `${count(isWrong)} of them show another class, ` : "") +
    `the network takes ${count(isDoubted)} for another class.`;
  const chooseWrong = (value) => chooseIn("prototypes", "only-wrong", value);
  const gallery = shown.map((entry) => prototypeClass(run, entry));
  return [
    paragraph(images.some((image) => image.src) ? sentence : `${sentence} ${kOnlyLastPictures}`, "finding"),
    element(
      "div",
      { class: "tools" },
      labelledCheckbox("only classes with marked images", onlyWrong, chooseWrong, {
        id: `only-wrong-${column}`,
      }),
      csvButton(name, () => prototypeNumbers(run, classes)),
    ),
    shown.length > 0 ? element("div", { class: "gallery" }, gallery) : emptyState("No image is marked."),
  ];
}

function prototypeTable(run, classes, name) {
  return dataTable({
    name,
    rows: classes,
    columns: [
      { title: "Class", text: true, value: (entry) => className(run, entry.label) },
      formatted("Score", (entry) => entry.score, significant),
      { title: "Of step", value: (entry) => entry.step },
    ],
  });
}

function isWrong(entry, image) {
  return image.true_label >= 0 && image.true_label !== entry.label;
}

function isDoubted(entry, image) {
  return image.predicted >= 0 && image.predicted !== entry.label;
}

function prototypeClass(run, entry) {
  const facts = [
    isKnown(entry.score) && `score ${significant(entry.score)}`,
    isKnown(entry.step) && `of step ${entry.step}`,
  ];
  const images = (entry.images ?? []).map((image) => prototypeImage(run, entry, image));
  return element(
    "div",
    { class: "prototype-class" },
    element("h3", {}, className(run, entry.label)),
    paragraph(facts.filter(Boolean).join(", "), "aside"),
    element("ul", {}, images),
  );
}

function prototypeImage(run, entry, image) {
  const [wrong, doubted] = [isWrong(entry, image), isDoubted(entry, image)];
  const probability = isKnown(image.probability) ? image.probability.toFixed(2) : kNotKnown;
  const sign = wrong ? "✕ " : doubted ? "≠ " : "";
  const shows = wrong && `Shows ${className(run, image.true_label)}`;
  const takenFor = doubted && `Taken for ${className(run, image.predicted)}`;
  const item = element(
    "li",
    { class: wrong ? "wrong" : doubted ? "doubted" : null },
    pictureOf(image, className(run, entry.label)),
    element("span", { class: "probability" }, sign + probability),
    // As in the tooltip, for screen readers.
    (wrong || doubted) &&
      element("span", { class: "hidden" }, `, ${[shows, takenFor].filter(Boolean).join(", ")}`),
  );
  const softLabel = (image.soft_label ?? []).map(
    ([label, p]) => `${className(run, label)} ${significant(p)}`,
  );
  return explain(item, () =>
    [
      image.path,
      `Probability of ${className(run, entry.label)}: ${significant(image.probability, 4)}`,
      shows,
      takenFor,
      softLabel.length > 0 && `Soft label: ${softLabel.join(", ")}`,
    ].filter(Boolean),
  );
}

function prototypeNumbers(run, classes) {
  const images = classes.flatMap((entry) => (entry.images ?? []).map((image) => ({ entry, image })));
  return numbersOf(images, {
    label: ({ entry }) => entry.label,
    class: ({ entry }) => className(run, entry.label),
    score: ({ entry }) => entry.score,
    step: ({ entry }) => entry.step,
    path: ({ image }) => image.path,
    probability: ({ image }) => image.probability,
    true_label: ({ image }) => image.true_label,
    predicted: ({ image }) => image.predicted,
    predicted_class: ({ image }) => ((image.predicted ?? -1) >= 0 ? className(run, image.predicted) : null),
    soft_label: ({ image }) => (image.soft_label ?? []).map(([label, p]) => `${label}:${p}`).join(" "),
  });
}
