// How far the decisions of each step can be trusted, judged without labels.

// Sign and colour of each verdict.
const kVerdicts = {
  good: { sign: "✓", kind: "good" },
  doubtful: { sign: "?", kind: "doubtful" },
  refused: { sign: "✕", kind: "refused" },
};

addSection({
  id: "trust",
  title: "Can the decisions be trusted?",
  short: "Trust",
  how: "What the program itself makes of each step, without labels. A doubtful step may have gone wrong, a refused one probably would have; 'Model kept' tells whether it changed the model.",
  scope: "run",
  has: ({ seed }) => healthRows(seed).length > 0,
  render: trustTable,
});

function verdictKind(verdict) {
  return Object.hasOwn(kVerdicts, verdict) ? kVerdicts[verdict].kind : null;
}

function verdictWord(verdict) {
  const sign = Object.hasOwn(kVerdicts, verdict) ? `${kVerdicts[verdict].sign} ` : "";
  return `${sign}${verdict ?? kNotKnown}`;
}

function healthRows(seed) {
  return stepNumbers(seed)
    .map((step) => ({ step, ...stepRecord(seed, step)?.health }))
    .filter((row) => isKnown(row.verdict));
}

function trustTable({ run, seed }) {
  const rows = healthRows(seed);
  const share = (title, key) => ({
    ...formatted(
      title,
      (row) => row[key],
      (value) => decimals(isKnown(value) ? 100 * value : null, 0),
    ),
    csv: [{ title: key, value: (row) => row[key] }],
  });
  const confidence = (row) =>
    isKnown(row.confidence_before) && isKnown(row.confidence_after)
      ? `${decimals(100 * row.confidence_before, 0)} → ${decimals(100 * row.confidence_after, 0)}`
      : null;
  const columns = [
    { title: "Step", value: (row) => row.step },
    {
      title: "Verdict",
      text: true,
      value: (row) => row.verdict,
      show: ({ verdict }) =>
        element("span", { class: `verdict-badge ${verdictKind(verdict) ?? ""}` }, verdictWord(verdict)),
    },
    { title: "Why", text: true, value: (row) => row.reason },
    share("Labels expected right, %", "trust"),
    formatted("Images", (row) => row.images, countText),
    formatted("Classes found", (row) => row.classes_found, countText),
    share("Agreement, %", "agreement"),
    {
      title: "Confidence, %",
      value: (row) => row.confidence_after,
      show: (row) => confidence(row) ?? kNotKnown,
      csv: ["confidence_before", "confidence_after"].map((key) => ({ title: key, value: (row) => row[key] })),
    },
    share("Class changed, %", "changed"),
    formatted("Fit no class", (row) => row.unfitting, countText),
    { title: "Model kept", text: true, value: (row) => row.kept_model },
  ];
  const name = titleOf("Verdicts", { run, seed });
  return [
    dataTable({ name, rows, columns: knownColumns(columns, rows) }),
    paragraph(
      "Agreement: classifier and clusters say the same. Confidence: mean probability of the predicted class, before → after the step.",
      "aside",
    ),
  ];
}
