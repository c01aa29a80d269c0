// The classes detected in a step.

// Sign, colour and look of each outcome. The sign stands above the bar and in the legend.
const kOutcomes = {
  found: { text: "detected, and there", sign: "✓", variable: "--series-0", look: "solid" },
  missed: { text: "there, but missed", sign: "✕", variable: "--series-1", look: "striped" },
  falsely: { text: "detected, but not there", sign: "!", variable: "--series-3", look: "striped" },
  absent: { text: "rightly taken as absent", sign: "", variable: "--series-6", look: "hollow" },
  detected: { text: "detected", sign: "✓", variable: "--series-0", look: "solid" },
  undetected: { text: "not detected", sign: "", variable: "--series-6", look: "hollow" },
};

addSection({
  id: "detection",
  title: "Detected classes",
  how: "One bar per source class: the classes whose bar reaches the dashed threshold are taken to be present in the images of this step.",
  scope: "run",
  render: detectionSection,
});

function detectionSection(view) {
  const { run, step, record, column } = view;
  const detection = record?.detection;
  if (!detection?.classes?.length) {
    const noDetection = `Nothing is known of detected classes at step ${step}: the method ${run.method ?? ""} does not detect them.`;
    return emptyState(beforeSteps(view) ?? noDetection);
  }
  const order = choice("detection-order", "label");
  const entries = detection.classes.map((entry) => ({ ...entry, outcome: outcomeOf(entry) }));
  const ordered = order === "score" ? sortedRows(entries, (entry) => entry.score, true) : entries;
  const orders = [
    { value: "label", text: "by label" },
    { value: "score", text: "by score" },
  ];
  const chooseOrder = (value) => chooseIn("detection", "detection-order", value);
  const controls = labelledSelect("Order", orders, order, chooseOrder, { id: `detection-order-${column}` });
  return [
    paragraph(detectionSentence(run, entries), "finding"),
    detectionFigure(view, detection, ordered, controls),
  ];
}

function outcomeOf({ detected, present }) {
  if (!isKnown(present)) return detected ? "detected" : "undetected";
  if (present) return detected ? "found" : "missed";
  return detected ? "falsely" : "absent";
}

function detectionSentence(run, entries) {
  const names = (outcome) =>
    entries.filter((entry) => entry.outcome === outcome).map((entry) => className(run, entry.label));
  const [found, missed, falsely] = ["found", "missed", "falsely"].map(names);
  if (!entries.some((entry) => isKnown(entry.present))) {
    return `${names("detected").length} of ${plural(entries.length, "class", "classes")} detected. Which are truly there is not known: these images have no labels.`;
  }
  const listed = (title, list) => (list.length > 0 ? ` ${title}: ${list.join(", ")}.` : "");
  const all = plural(found.length + missed.length, "class", "classes");
  return `Of the ${all} present, ${missed.length === 0 ? "none is missed" : `${found.length} detected`}.${listed("Missed", missed)}${listed("Not there, but detected", falsely)}`;
}
