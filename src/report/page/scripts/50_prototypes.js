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
  const { run, seed, step, record, column } = view;
  const classes = record?.prototypes ?? [];
  if (classes.length === 0) {
    return [
      emptyState(
        beforeSteps(view) ??
          `No prototypes after step ${step}: the method ${run.method ?? ""} keeps no images, or this step kept none.`,
      ),
    ];
  }
  const name = `Prototypes, ${runName(run)}${ofSeed(seed)}, step ${step}`;
  const images = classes.flatMap((entry) => entry.images ?? []);
  if (images.length === 0) return [paragraph(kImagesLeftOut, "finding"), prototypeTable(run, classes, name)];
  const wrongOnes = (entry) => (entry.images ?? []).filter((image) => isWrong(entry, image));
  const onlyWrong = choice("only-wrong", false);
  const shown = onlyWrong ? classes.filter((entry) => wrongOnes(entry).length > 0) : classes;
  const sentence =
    `${plural(images.length, "image")} of ${plural(classes.length, "class", "classes")}; ` +
    `the network takes ${classes.flatMap(wrongOnes).length} of them for another class.`;
  return [
    paragraph(images.some((image) => image.src) ? sentence : `${sentence} ${kOnlyLastPictures}`, "finding"),
    element(
      "div",
      { class: "tools" },
      labelledCheckbox(
        "only classes with such images",
        onlyWrong,
        (value) => chooseIn("prototypes", "only-wrong", value),
        { id: `only-wrong-${column}` },
      ),
      csvButton(name, () => prototypeNumbers(run, classes)),
    ),
    shown.length > 0
      ? element(
          "div",
          { class: "gallery" },
          shown.map((entry) => prototypeClass(run, entry)),
        )
      : emptyState("The network gets all of them right."),
  ];
}

function prototypeTable(run, classes, name) {
  return dataTable({
    name,
    rows: classes,
    columns: [
      { title: "Class", text: true, value: (entry) => className(run, entry.label) },
      { title: "Score", value: (entry) => entry.score ?? null, show: (entry) => significant(entry.score) },
      { title: "Of step", value: (entry) => entry.step ?? null },
    ],
  });
}

function isWrong(entry, image) {
  return isKnown(image.predicted) && image.predicted >= 0 && image.predicted !== entry.label;
}

function prototypeClass(run, entry) {
  return element(
    "div",
    { class: "prototype-class" },
    element("h3", {}, className(run, entry.label)),
    paragraph(
      [
        isKnown(entry.score) ? `score ${significant(entry.score)}` : null,
        isKnown(entry.step) ? `of step ${entry.step}` : null,
      ]
        .filter(isKnown)
        .join(", "),
      "aside",
    ),
    element(
      "ul",
      {},
      (entry.images ?? []).map((image) => prototypeImage(run, entry, image)),
    ),
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
    // What the tooltip says, for those who hear the page.
    wrong ? element("span", { class: "hidden" }, `, taken for ${className(run, image.predicted)}`) : null,
  );
  return explain(item, () =>
    [
      image.path ?? "",
      `Probability of ${className(run, entry.label)}: ${significant(image.probability, 4)}`,
      ...(wrong ? [`Taken for ${className(run, image.predicted)}`] : []),
      ...((image.soft_label ?? []).length > 0
        ? [
            `Soft label: ${image.soft_label.map(([label, p]) => `${className(run, label)} ${significant(p)}`).join(", ")}`,
          ]
        : []),
    ].filter((line) => line !== ""),
  );
}

// Pictures are in the document itself; an address elsewhere is not asked for.
function isPicture(src) {
  return typeof src === "string" && src.startsWith("data:image/");
}

function baseName(path) {
  return shortened((path ?? kNotKnown).split("/").at(-1), 14);
}

function prototypeNumbers(run, classes) {
  return {
    columns: [
      "label",
      "class",
      "score",
      "step",
      "path",
      "probability",
      "predicted",
      "predicted_class",
      "soft_label",
    ],
    rows: classes.flatMap((entry) =>
      (entry.images ?? []).map((image) => [
        entry.label,
        className(run, entry.label),
        entry.score,
        entry.step,
        image.path,
        image.probability,
        image.predicted,
        isKnown(image.predicted) && image.predicted >= 0 ? className(run, image.predicted) : null,
        (image.soft_label ?? []).map(([label, p]) => `${label}:${p}`).join(" "),
      ]),
    ),
  };
}
