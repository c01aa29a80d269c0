// The matrix of step and class group, and the figures of each step.

addSection({
  id: "groups",
  title: "Step by step",
  short: "Steps",
  how: "What each step had, and what it did.",
  scope: "run",
  has: ({ seed }) => stepNumbers(seed).length > 0 || isKnown(seed?.metrics),
  render: (view) => [element("div", { class: "matrix-and-steps" }, groupMatrix(view), stepTable(view))],
});

function groupMatrix({ run, seed, column }) {
  const several = seedsOf(run).length > 1;
  const average = several && choice("group-mean", true);
  const seeds = average ? seedsOf(run) : [seed];
  const rows = groupRows(seeds);
  if (rows.length === 0) return [];
  const groups = Math.max(...rows.map((row) => row.values.length));
  const numbers = {
    columns: ["step", ...Array.from({ length: groups }, (_, j) => `group ${j + 1}`)],
    rows: rows.map((row) => [row.step, ...row.values]),
  };
  const name = `Class groups, ${runName(run)}, ${average ? "mean of seeds" : `seed ${seed.seed}`}`;
  const range = groupAccuracyRange();
  const chooseMean = (mean) => chooseIn("groups", "group-mean", mean);
  const tools = [
    several &&
      labelledCheckbox(`mean of the ${seedsOf(run).length} seeds`, average, chooseMean, {
        id: `group-mean-${column}`,
      }),
    csvButton(name, () => numbers),
  ];
  const heads = [
    element("th", { scope: "col", class: "text" }, "after ↓ group →"),
    ...Array.from({ length: groups }, (_, j) => groupHead(run, j + 1)),
  ];
  const body = rows.map((row) => groupRow(row, range));
  const text = `Row t: after step t. Column j: accuracy on the classes that arrive at step j; read down to see a group being learnt and forgotten. In percent; the colour grows stronger from ${range.low} to ${range.high}. Outlined: the group arrives at this step. Without colour: it has not arrived yet.`;
  const table = tableBox(name, "heat", heads, element("tbody", {}, body), [
    element("h3", {}, "Class groups"),
    ...tools,
  ]);
  return element("div", {}, table, paragraph(text, "aside"));
}

// By step, the accuracy on each group, mean over the seeds; step 0 is the source model.
function groupRows(seeds) {
  const steps = [...new Set(seeds.flatMap(stepNumbers))].sort((a, b) => a - b);
  const groupsAfter = (seed, step) =>
    step === 0
      ? seed?.metrics?.source_group_accuracy_percent
      : stepMetrics(seed, step)?.group_accuracy_percent;
  const rows = [0, ...steps].map((step) => {
    const bySeed = seeds.map((seed) => groupsAfter(seed, step) ?? []);
    const width = Math.max(0, ...bySeed.map((values) => values.length));
    return {
      step,
      values: Array.from({ length: width }, (_, j) => statistics(bySeed.map((values) => values[j])).mean),
    };
  });
  return rows.filter((row) => row.values.length > 0);
}

function groupHead(run, group) {
  const labels = run.schedule?.[group - 1];
  const head = element("th", { scope: "col", "aria-label": `group ${group}` }, String(group));
  if (!labels) return head;
  head.tabIndex = 0;
  return explain(head, () => [
    `Group ${group}, ${plural(labels.length, "class", "classes")}:`,
    labels.map((label) => className(run, label)).join(", "),
  ]);
}

function groupRow({ step, values }, { low, high }) {
  return element(
    "tr",
    {},
    element("th", { scope: "row", class: "text" }, step === 0 ? "source model" : `step ${step}`),
    values.map((value, j) => {
      if (j + 1 > step) return element("td", { class: "future" }, decimals(value));
      const share = isKnown(value) ? (value - low) / (high - low) : null;
      return element("td", heatCell(share, j + 1 === step ? "arrives" : null), decimals(value));
    }),
  );
}

// Class and style of a cell coloured by a share in [0, 1]; style.css has the colours.
// From kStrongShare on the background is too strong for the usual colour of text: chosen so that
// black and white text have a contrast of 4.5 on their side of it in both themes.
const kStrongShare = 0.676;

function heatCell(share, kind) {
  if (!isKnown(share)) return { class: kind };
  return {
    class: ["heat-cell", share >= kStrongShare ? "strong" : null, kind].filter(isKnown).join(" "),
    style: `--share: ${(share * 100).toFixed(1)}%`,
  };
}

function stepTable({ run, seed }) {
  const rows = stepNumbers(seed).map((step) => ({
    step,
    record: stepRecord(seed, step) ?? {},
    metrics: stepMetrics(seed, step) ?? {},
  }));
  if (rows.length === 0) return [];
  const detected = (row) => row.record.detection?.classes?.filter((entry) => entry.detected).length;
  const percent = (title, value) => formatted(title, value, decimals);
  const columns = [
    { title: "Step", value: (row) => row.step },
    formatted("Images", (row) => row.record.images, countText),
    { title: "There", value: (row) => run.schedule?.[row.step - 1]?.length },
    { title: "Kept", value: detected },
    percent("Recall", (row) => row.metrics.detection?.recall_percent),
    percent("Precision", (row) => row.metrics.detection?.precision_percent),
    percent("Pseudo-labels", pseudoLabelPercent),
    percent("Accuracy", (row) => row.metrics.accuracy_percent),
    percent("S‑1 accuracy", (row) => row.metrics.s1_accuracy_percent),
    percent("Drop", (row) => row.metrics.accuracy_drop_percent),
  ];
  return dataTable({
    title: `Each step${ofSeed(seed)}`,
    name: titleOf("Steps", { run, seed }),
    columns: knownColumns(columns, rows),
    rows,
  });
}

function pseudoLabelPercent({ record, metrics }) {
  const { images, correct } = record.pseudo_labels ?? {};
  if (isKnown(correct) && images > 0) return (100 * correct) / images;
  return metrics.pseudo_labels?.accuracy_percent;
}
