// The document behind the page (docs/formats/report_data.md). A missing key and null both mean:
// not known.

const kFormatVersion = 1;
const report = readReport();

function readReport() {
  const document_ = JSON.parse(document.getElementById("report-data").textContent);
  return { ...document_, runs: document_.runs ?? [], tables: document_.tables ?? [] };
}

function seedsOf(run) {
  return run.seeds ?? [];
}

// ", seed 0" for titles; nothing for a state directory, which has no seed.
function ofSeed(seed) {
  return isKnown(seed?.seed) ? `, seed ${seed.seed}` : "";
}

// "Confusion matrix, RUN, seed 0, step 3".
function titleOf(what, { run, seed, step }) {
  return `${what}, ${runName(run)}${ofSeed(seed)}${isKnown(step) ? `, step ${step}` : ""}`;
}

function className(run, label) {
  return run.classes?.[label] ?? `class ${label}`;
}

// The step in which a class arrives; null where the schedule is not known.
function arrivalStep(run, label) {
  const index = (run.schedule ?? []).findIndex((labels) => labels.includes(label));
  return index < 0 ? null : index + 1;
}

// Steps of a seed that are done, ascending; the source model's, step 0, is not one.
function stepNumbers(seed) {
  const numbers = new Set([...(seed?.steps ?? []), ...(seed?.metrics?.steps ?? [])].map((step) => step.step));
  numbers.delete(0);
  return [...numbers].sort((a, b) => a - b);
}

function stepRecord(seed, step) {
  return (seed?.steps ?? []).find((record) => record.step === step);
}

function stepMetrics(seed, step) {
  return (seed?.metrics?.steps ?? []).find((record) => record.step === step);
}

// Over the seeds of a run: mean and deviation of one figure.
function overSeeds(run, figure) {
  return statistics(seedsOf(run).map(figure));
}

function isFinished(run) {
  return (run.status ?? "finished") === "finished";
}

// "running, step 2 of 6": how far an unfinished run has got.
function progressText(run) {
  const done = Math.max(0, ...seedsOf(run).map((seed) => stepNumbers(seed).at(-1) ?? 0));
  const steps = isKnown(run.steps_planned)
    ? `${done} of ${plural(run.steps_planned, "step")}`
    : plural(done, "step");
  return `${run.status}, ${steps} done`;
}

// Of the accuracies on groups that have arrived, over all runs: all share one colour scale.
function groupAccuracyRange() {
  const values = report.runs
    .flatMap(seedsOf)
    .flatMap((seed) => seed.metrics?.steps ?? [])
    .flatMap((step) => (step.group_accuracy_percent ?? []).slice(0, step.step))
    .filter(isKnown);
  if (values.length === 0) return { low: 0, high: 100 };
  // Not Math.min(...values): the number of arguments of a call is limited.
  const lowest = values.reduce((a, b) => Math.min(a, b));
  const highest = values.reduce((a, b) => Math.max(a, b));
  const low = Math.floor(lowest / 10) * 10;
  return { low, high: Math.max(low + 10, Math.ceil(highest / 10) * 10) };
}

// Runs on the same benchmark can be compared; others cannot.
function taskKey(run) {
  return JSON.stringify([run.preset ?? null, run.source ?? null, run.target ?? null]);
}

// The model of the source alone: what every method must beat.
function isSourceOnly(run) {
  return run.method === "source-only";
}

// The figures of a run by their keys in `metrics`. `best`: which is better. `learns`: a run that
// never learns cannot forget either, so it is not the best of these.
const kFigures = [
  { key: "final_accuracy_percent", title: "Final", best: "high" },
  { key: "mean_accuracy_percent", title: "Mean", best: "high" },
  { key: "final_s1_accuracy_percent", title: "Final S‑1", best: "high" },
  { key: "mean_s1_accuracy_percent", title: "Mean S‑1", best: "high" },
  { key: "forgetting_percent", title: "Forgetting", best: "low", learns: true },
  { key: "backward_transfer_percent", title: "Backward transfer", best: "high", learns: true },
  { key: "mean_recall_percent", title: "Recall", best: "high" },
  { key: "mean_precision_percent", title: "Precision", best: "high" },
  { key: "pseudo_label_accuracy_percent", title: "Pseudo-labels", best: "high" },
];
