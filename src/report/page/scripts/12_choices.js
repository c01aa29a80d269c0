// What the reader has chosen. It outlives a reload of the page in this tab, so that a
// page that renews itself does not lose one's place.

const choices = loadChoices();

function storageKey() {
  return `proca-report ${location.pathname}`;
}

function loadChoices() {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey())) ?? {};
  } catch {
    return {}; // Storage is forbidden or holds something else: begin afresh.
  }
}

function saveChoices() {
  try {
    sessionStorage.setItem(storageKey(), JSON.stringify(choices));
  } catch {
    // Storage is forbidden or full; the choices then last until the page is left.
  }
}

function choice(name, otherwise) {
  return choices[name] ?? otherwise;
}

function choose(name, value) {
  if (value === undefined) delete choices[name];
  else choices[name] = value;
  saveChoices();
}

function keepScrollPosition() {
  history.scrollRestoration = "manual";
  if (isKnown(choices.scroll) && !location.hash) window.scrollTo(0, choices.scroll);
  window.addEventListener("pagehide", () => choose("scroll", window.scrollY));
}

// --- The run, seed and step that the detail sections show --------------------

function chosenRun() {
  return runById(choice("run")) ?? report.runs.find(hasDecisions) ?? report.runs[0];
}

// Whether there is more to show of a run than accuracies: a baseline detects and keeps nothing.
function hasDecisions(run) {
  return seedsOf(run).some((seed) => (seed.steps ?? []).some((step) => isKnown(step.detection)));
}

function runBeside() {
  const run = runById(choice("beside"));
  return run === chosenRun() ? undefined : run;
}

// Everything a detail section needs to know: one run, one of its seeds, one of its steps.
// A seed or step that this run lacks gives way to its first seed, its last step.
function viewOf(run) {
  const seeds = seedsOf(run);
  const seed = seeds.find((candidate) => candidate.seed === choice("seed")) ?? seeds[0];
  const numbers = stepsToShow(seed);
  const step = numbers.includes(choice("step")) ? choice("step") : (numbers.at(-1) ?? 0);
  return { run, seed, step, record: stepRecord(seed, step), metrics: stepMetrics(seed, step) };
}

// The steps done, and before them the source model if anything is known of it.
function stepsToShow(seed) {
  return stepRecord(seed, 0) ? [0, ...stepNumbers(seed)] : stepNumbers(seed);
}

// Why there is nothing of a step to show, where the view is before the first one; else null.
function beforeSteps({ seed, step }) {
  if (step > 0) return null;
  return stepNumbers(seed).length === 0
    ? "No step is done yet."
    : "The source model has not seen the target: choose a step.";
}

function currentViews() {
  return [chosenRun(), runBeside()].filter(isKnown).map(viewOf);
}
