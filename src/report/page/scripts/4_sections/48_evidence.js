// The evidence for each class in a step, and why it was kept or dropped. The figure is a table with
// bars in it, so that it can be read aloud.

// Sign and text of each outcome; style.css colours the bars by them.
const kOutcomes = {
  found: { text: "kept, and there", sign: "✓" },
  missed: { text: "dropped, but there", sign: "✕" },
  falsely: { text: "kept, but not there", sign: "!" },
  absent: { text: "rightly dropped", sign: "" },
  detected: { text: "kept", sign: "✓" },
  undetected: { text: "dropped", sign: "" },
};
// Dropped classes that are shown at first: those that came nearest to the threshold, unless there
// is next to nothing for them.
const kMostDropped = 6;
const kHopeless = 0.05; // of the threshold

addSection({
  id: "detection",
  title: "Which classes are there?",
  short: "Classes found",
  how: "The evidence for each source class in the images of this step: the classes whose bar reaches the line are kept and trained on, the others are dropped.",
  scope: "run",
  has: ({ seed }) => (seed?.steps ?? []).some((record) => record.detection?.classes?.length > 0),
  render: evidenceSection,
});

function evidenceSection(view) {
  const { run, step, record } = view;
  const detection = record?.detection;
  if (!detection?.classes?.length) {
    return emptyState(beforeSteps(view) ?? `Step ${step} has no record of detected classes.`);
  }
  const entries = sortedRows(
    detection.classes.map((entry) => ({ ...entry, outcome: outcomeOf(entry) })),
    (entry) => entry.score,
    true,
  );
  return [paragraph(detectionSentence(run, entries), "finding"), evidenceFigure(view, detection, entries)];
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
    return `${names("detected").length} of ${plural(entries.length, "class", "classes")} kept. Which are truly there is not known: these images have no labels.`;
  }
  const listed = (title, list) => (list.length > 0 ? ` ${title}: ${list.join(", ")}.` : "");
  const all = plural(found.length + missed.length, "class", "classes");
  return `Of the ${all} present, ${missed.length === 0 ? "none is missed" : `${found.length} kept`}.${listed("Missed", missed)}${listed("Not there, but kept", falsely)}`;
}

function scoreName({ rule }) {
  return !rule || rule === "scd" ? "Cumulative probability" : `Score of rule ${rule}`;
}

// The classes that matter: the kept ones, those that are there, and the dropped ones that came
// nearest. The tail behind them opens on demand.
function evidenceFigure(view, detection, entries) {
  const { run, seed, step } = view;
  const isDropped = ({ outcome }) => outcome === "absent" || outcome === "undetected";
  const hopeless = (detection.threshold ?? -Infinity) * kHopeless;
  const near = entries.filter((entry) => isDropped(entry) && entry.score >= hopeless).slice(0, kMostDropped);
  const matters = (entry) => !isDropped(entry) || near.includes(entry);
  const first = entries.filter(matters);
  const tail = entries.length - first.length;
  const scale = evidenceScale(detection);
  const open = () => tail < 2 || choice("evidence-tail", false);
  const body = element("tbody");
  const fill = () => {
    const shown = open() ? entries : first;
    body.replaceChildren(...shown.map((entry) => evidenceRow(run, detection, entry, scale)));
  };
  fill();
  const toggleText = () =>
    open() ? "Fewer classes" : `${plural(tail, "more class", "more classes")}, all dropped`;
  const toggle = button(
    toggleText(),
    () => {
      choose("evidence-tail", !open());
      toggle.textContent = toggleText();
      fill();
    },
    { class: "small" },
  );
  const name = titleOf("Evidence of each class", { run, seed, step });
  const heads = [
    ["Class", "text"],
    [`${scoreName(detection)}, step ${step}`, "text bar-head"],
    ["Score", null],
    ["Outcome", "text"],
    entries.some(({ why }) => why) ? ["Why", "text"] : null,
  ].filter(isKnown);
  const cells = heads.map(([title, kind]) => element("th", { scope: "col", class: kind }, title));
  const tools = [csvButton(name, () => evidenceNumbers(run, detection, entries))];
  const legend = isKnown(detection.threshold)
    ? `The line is the threshold, ${significant(detection.threshold)}.`
    : "This rule has no threshold.";
  return element(
    "div",
    { class: "evidence-figure" },
    tableBox(name, "evidence", cells, body, tools),
    element("div", { class: "tools left" }, tail >= 2 && toggle, element("span", { class: "aside" }, legend)),
  );
}

// Part of the bar's width by score: from zero, or from below where a score is negative, to the
// largest score or threshold; the same for runs side by side that have the same rule.
function evidenceScale({ rule }) {
  const values = currentViews()
    .map(({ record }) => record?.detection)
    .filter((other) => other?.classes && other.rule === rule)
    .flatMap((other) => [other.threshold, ...other.classes.map((entry) => entry.score)])
    .concat(0)
    .filter(isKnown);
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const span = high - low || 1;
  return (value) => (100 * (value - low)) / span;
}

function evidenceRow(run, detection, entry, scale) {
  const { text, sign } = kOutcomes[entry.outcome];
  const name = className(run, entry.label);
  const [zero, end] = [scale(0), scale(entry.score ?? 0)];
  const style = `left: ${Math.min(zero, end).toFixed(2)}%; width: ${Math.abs(end - zero).toFixed(2)}%`;
  const line =
    isKnown(detection.threshold) &&
    element("span", { class: "threshold", style: `left: ${scale(detection.threshold).toFixed(2)}%` });
  const bar = element(
    "div",
    { class: "track", "aria-hidden": "true" },
    element("span", { class: "bar", style }),
    line,
  );
  const row = element(
    "tr",
    { class: entry.outcome },
    element("th", { scope: "row", class: "text" }, name),
    element("td", { class: "bar-cell" }, bar),
    element("td", {}, significant(entry.score)),
    element("td", { class: "text outcome" }, sign && `${sign} `, text),
    detection.classes.some(({ why }) => why) && element("td", { class: "text long" }, entry.why ?? ""),
  );
  return explain(row, () =>
    [
      name,
      `${scoreName(detection)} ${significant(entry.score, 4)}, threshold ${significant(detection.threshold, 4)}`,
      text,
      entry.why,
    ].filter(Boolean),
  );
}

function evidenceNumbers(run, detection, entries) {
  return numbersOf(entries, {
    label: (entry) => entry.label,
    class: (entry) => className(run, entry.label),
    score: (entry) => entry.score,
    threshold: () => detection.threshold,
    cumulative_probability: (entry) => entry.cumulative_probability,
    source_share: (entry) => entry.source_share,
    detected: (entry) => entry.detected,
    present: (entry) => entry.present,
    why: (entry) => entry.why,
  });
}
