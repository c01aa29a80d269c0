// The images behind the mistakes: of a cell of the matrix, of a class, or of all.

const kMistakesElsewhere = "The images of mistakes are recorded of the last step only.";
const kMistakesAtFirst = 24; // images, before a cell or a class is chosen

// {box, show}: `show({label, predicted})` fills the box with the images of one cell; without
// `predicted` with those of a class, and without both with the first of all.
function mistakeImages({ run, seed, step, record, column }) {
  const groups = record?.mistakes ?? [];
  const box = element("div", { class: "mistakes", "aria-live": "polite", id: `mistakes-${column}` });
  if (groups.length === 0) {
    const hasOthers = (seed?.steps ?? []).some((other) => other.step !== step && other.mistakes?.length > 0);
    if (hasOthers) box.append(paragraph(kMistakesElsewhere, "aside"));
    return { box, show: () => {} };
  }
  const counts = (label, predicted) =>
    (record.confusion ?? [])
      .filter(([t, p]) => t !== p && t === (label ?? t) && p === (predicted ?? p))
      .reduce((sum, [, , images]) => sum + images, 0);
  const show = (chosen = {}) => {
    choose("mistakes", chosen);
    box.replaceChildren(...mistakesShown(run, groups, chosen, counts, show));
  };
  box.showMistakes = show;
  // A cell chosen in another run or step may be empty here.
  const kept = choice("mistakes", {});
  const isThere = counts(kept.label, kept.predicted) > 0;
  box.append(...mistakesShown(run, groups, isThere ? kept : {}, counts, show));
  return { box, show };
}

// From another section.
function showMistakes(chosen) {
  for (const box of document.querySelectorAll(".mistakes")) box.showMistakes?.(chosen);
}

function mistakesShown(run, groups, { label, predicted }, counts, show) {
  const isAll = !isKnown(label);
  const matching = groups.filter(
    (group) => (isAll || group.label === label) && (!isKnown(predicted) || group.predicted === predicted),
  );
  const images = matching.flatMap((group) => (group.images ?? []).map((image) => ({ group, image })));
  const shown = isAll ? images.slice(0, kMistakesAtFirst) : images;
  const total = counts(label, predicted);
  const what = isAll
    ? "Images taken for another class"
    : label === predicted
      ? `${className(run, label)} taken for itself is no mistake`
      : isKnown(predicted)
        ? `${className(run, label)} taken for ${className(run, predicted)}`
        : `${className(run, label)} taken for other classes`;
  const count =
    shown.length < total ? `${countText(shown.length)} of ${plural(total, "image")}` : plural(total, "image");
  const tools = element(
    "div",
    { class: "tools" },
    element("h3", {}, `${what}${label === predicted && !isAll ? "" : `: ${count}`}`),
    !isAll && button("All mistakes", () => show({}), { class: "small" }),
  );
  return [
    tools,
    list(
      "mistake-images",
      shown.map(({ group, image }) => mistakeImage(run, group, image)),
    ),
  ];
}

function mistakeImage(run, { label, predicted }, image) {
  const [truth, taken] = [className(run, label), className(run, predicted)];
  const item = element(
    "div",
    {},
    pictureOf(image, truth),
    element("span", { class: "caption" }, shortened(truth, 22)),
    element("span", { class: "caption taken" }, `→ ${shortened(taken, 20)}`),
  );
  return explain(item, () => [image.path, `True: ${truth}`, `Predicted: ${taken}`].filter(Boolean));
}
