// Which classes a step was taken to contain.

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
  const { run, seed, step, record, column } = view;
  const detection = record?.detection;
  if (!detection?.classes?.length) {
    return [emptyState(beforeSteps(view) ?? `Nothing is known of detected classes at step ${step}: the method ${run.method ?? ""} does not detect them.`)];
  }
  const order = choice("detection-order", "label");
  const entries = detection.classes.map((entry) => ({ ...entry, outcome: outcomeOf(entry) }));
  const ordered = order === "score" ? sortedRows(entries, (entry) => entry.score, true) : entries;
  return [
    paragraph(detectionSentence(run, entries), "finding"),
    detectionFigure(run, seed, step, detection, ordered, labelledSelect("Order", [{ value: "label", text: "by label" }, { value: "score", text: "by score" }], order,
      (value) => chooseIn("detection", "detection-order", value), { id: `detection-order-${column}` })),
  ];
}

function outcomeOf({ detected, present }) {
  if (!isKnown(present)) return detected ? "detected" : "undetected";
  if (present) return detected ? "found" : "missed";
  return detected ? "falsely" : "absent";
}

function detectionSentence(run, entries) {
  const names = (outcome) => entries.filter((entry) => entry.outcome === outcome).map((entry) => className(run, entry.label));
  const [found, missed, falsely] = ["found", "missed", "falsely"].map(names);
  if (!entries.some((entry) => isKnown(entry.present))) {
    return `${names("detected").length} of ${plural(entries.length, "class", "classes")} detected. Which are truly there is not known: these images have no labels.`;
  }
  const listed = (title, list) => (list.length > 0 ? ` ${title}: ${list.join(", ")}.` : "");
  const all = plural(found.length + missed.length, "class", "classes");
  return `Of the ${all} present, ${missed.length === 0 ? "none is missed" : `${found.length} detected`}.${listed("Missed", missed)}${listed("Not there, but detected", falsely)}`;
}

function detectionFigure(run, seed, step, detection, entries, controls) {
  const scoreName = detection.rule === "scd" || !detection.rule ? "cumulative probability" : `score of rule ${detection.rule}`;
  return chartFigure({
    title: `${scoreName[0].toUpperCase()}${scoreName.slice(1)}, step ${step}`,
    description: `${scoreName} of ${plural(entries.length, "class", "classes")} at step ${step} of ${runName(run)}${ofSeed(seed)}, threshold ${significant(detection.threshold)}`,
    numbers: {
      columns: ["label", "class", "score", "threshold", "cumulative_probability", "source_share", "detected", "present"],
      rows: entries.map((entry) => [entry.label, className(run, entry.label), entry.score, detection.threshold, entry.cumulative_probability, entry.source_share, entry.detected, entry.present]),
    },
    controls,
    height: 340,
    minimumWidth: entries.length * 14 + 60,
    below: outcomeLegend([...new Set(entries.map((entry) => entry.outcome))], detection.threshold),
    config: () => detectionConfig(run, detection, entries, scoreName),
  });
}

function detectionConfig(run, detection, entries, scoreName) {
  const colours = entries.map((entry) => themeColour(kOutcomes[entry.outcome].variable));
  const looks = { solid: (colour) => colour, striped: stripes, hollow: () => "transparent" };
  const lines = (item) => {
    const entry = entries[item.dataIndex];
    return [className(run, entry.label), `${scoreName} ${significant(entry.score, 4)}, threshold ${significant(detection.threshold, 4)}`, kOutcomes[entry.outcome].text];
  };
  return {
    type: "bar",
    data: {
      labels: entries.map((entry) => className(run, entry.label)),
      datasets: [{
        data: entries.map((entry) => entry.score),
        backgroundColor: entries.map((entry, index) => looks[kOutcomes[entry.outcome].look](colours[index])),
        borderColor: colours, borderWidth: 1.5, minBarLength: 2, categoryPercentage: 0.9, barPercentage: 0.85,
      }],
    },
    options: chartOptions({
      x: { grid: { display: false }, ticks: { autoSkip: false, maxRotation: 90, minRotation: entries.length > 12 ? 90 : 0, font: { size: entries.length > 40 ? 10 : 12 }, callback: (_, index) => shortened(className(run, entries[index].label)) } },
      y: { label: scoreName, beginAtZero: true, grace: "8%" },
      interaction: { mode: "index", intersect: false },
      plugins: { tooltip: tooltipOf(lines) },
    }),
    plugins: [
      barSigns(entries.map((entry) => kOutcomes[entry.outcome].sign), colours),
      lineMarks(isKnown(detection.threshold) ? [{ axis: "y", value: detection.threshold, label: "" }] : []),
    ],
  };
}

function shortened(text, most = 18) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

function outcomeLegend(outcomes, threshold) {
  const line = isKnown(threshold) ? element("li", {}, element("span", { class: "swatch line", style: "--colour: var(--ink)", "aria-hidden": "true" }), `threshold ${significant(threshold)}`) : null;
  return element("ul", { class: "outcomes" }, line, Object.keys(kOutcomes).filter((name) => outcomes.includes(name)).map((name) => {
    const { text, sign, variable, look } = kOutcomes[name];
    return element("li", {}, element("span", { class: `swatch ${look}`, style: `--colour: var(${variable})`, "aria-hidden": "true" }), sign ? `${sign} ${text}` : text);
  }));
}
