// The images kept in memory.

const kOnlyLastPictures = "Pictures are kept of the last step only; of this one there are names and figures.";
const kImagesLeftOut =
  "A report of so many runs leaves out the images themselves; a report of this run alone has them.";

addSection({
  id: "prototypes",
  title: "Prototypes",
  how: "The images kept for each class after this step, with the network's probability for that class when they were kept; a frame with ≠ marks those it takes for another class.",
  scope: "run",
  render: prototypeSection,
});

function prototypeSection(view) {
  const { run, step, record, column } = view;
  const classes = record?.prototypes ?? [];
  if (classes.length === 0) {
    const none = `No prototypes after step ${step}: the method ${run.method ?? ""} keeps no images, or this step kept none.`;
    return emptyState(beforeSteps(view) ?? none);
  }
  const name = titleOf("Prototypes", view);
  const images = classes.flatMap((entry) => entry.images ?? []);
  if (images.length === 0) return [paragraph(kImagesLeftOut, "finding"), prototypeTable(run, classes, name)];
  const wrongOnes = (entry) => (entry.images ?? []).filter((image) => isWrong(entry, image));
  const onlyWrong = choice("only-wrong", false);
  const shown = onlyWrong ? classes.filter((entry) => wrongOnes(entry).length > 0) : classes;
  const sentence =
    `${plural(images.length, "image")} of ${plural(classes.length, "class", "classes")}; ` +
    `the network takes ${classes.flatMap(wrongOnes).length} of them for another class.`;
  const chooseWrong = (value) => chooseIn("prototypes", "only-wrong", value);
  const gallery = shown.map((entry) => prototypeClass(run, entry));
  return [
    paragraph(images.some((image) => image.src) ? sentence : `${sentence} ${kOnlyLastPictures}`, "finding"),
    element(
      "div",
      { class: "tools" },
      labelledCheckbox("only classes with such images", onlyWrong, chooseWrong, { id: `only-wrong-${column}` }),
      csvButton(name, () => prototypeNumbers(run, classes)),
    ),
    shown.length > 0
      ? element("div", { class: "gallery" }, gallery)
      : emptyState("The network gets all of them right."),
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
  return isKnown(image.predicted) && image.predicted >= 0 && image.predicted !== entry.label;
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
  const wrong = isWrong(entry, image);
  const probability = isKnown(image.probability) ? image.probability.toFixed(2) : kNotKnown;
  const item = element(
    "li",
    { class: wrong ? "wrong" : null },
    isPicture(image.src)
      ? element("img", { src: image.src, alt: image.path ?? className(run, entry.label), decoding: "async" })
      : element("span", { class: "no-picture" }, baseName(image.path)),
    element("span", { class: "probability" }, wrong ? `≠ ${probability}` : probability),
    // As in the tooltip, for screen readers.
    wrong && element("span", { class: "hidden" }, `, taken for ${className(run, image.predicted)}`),
  );
  const softLabel = (image.soft_label ?? []).map(([label, p]) => `${className(run, label)} ${significant(p)}`);
  return explain(item, () =>
    [
      image.path,
      `Probability of ${className(run, entry.label)}: ${significant(image.probability, 4)}`,
      wrong && `Taken for ${className(run, image.predicted)}`,
      softLabel.length > 0 && `Soft label: ${softLabel.join(", ")}`,
    ].filter(Boolean),
  );
}

// Pictures are in the document itself; other addresses are not requested.
function isPicture(src) {
  return typeof src === "string" && src.startsWith("data:image/");
}

function baseName(path) {
  return shortened((path ?? kNotKnown).split("/").at(-1), 14);
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
    predicted: ({ image }) => image.predicted,
    predicted_class: ({ image }) => (image.predicted ?? -1) >= 0 ? className(run, image.predicted) : null,
    soft_label: ({ image }) => (image.soft_label ?? []).map(([label, p]) => `${label}:${p}`).join(" "),
  });
}
