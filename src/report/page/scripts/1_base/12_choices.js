// The reader's choices. They survive a reload of the page in this tab, so that a page that renews
// itself keeps its place.

const kStorageKey = `proca-report ${location.pathname}`;
const choices = loadChoices();

function loadChoices() {
  try {
    return JSON.parse(sessionStorage.getItem(kStorageKey)) ?? {};
  } catch {
    return {}; // Storage is forbidden or holds something else.
  }
}

function saveChoices() {
  try {
    sessionStorage.setItem(kStorageKey, JSON.stringify(choices));
  } catch {
    // Storage is forbidden or full: the choices last until the page is left.
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
  const chosen = report.runs.find((run) => run.id === choice("run"));
  return chosen ?? report.runs.find(hasDecisions) ?? report.runs[0];
}

// Whether a run has more to show than accuracies: a baseline detects and keeps nothing.
function hasDecisions(run) {
  return seedsOf(run).some((seed) => (seed.steps ?? []).some((step) => isKnown(step.detection)));
}

function runBeside() {
  const run = report.runs.find((other) => other.id === choice("beside"));
  return run === chosenRun() ? undefined : run;
}

// What a detail section shows: one run, one of its seeds, one of its steps. Where the run lacks the
// chosen seed or step these are its first seed and last step.
function viewOf(run) {
  const seeds = seedsOf(run);
  const seed = seeds.find((candidate) => candidate.seed === choice("seed")) ?? seeds[0];
  const numbers = stepsToShow(seed);
  const step = numbers.includes(choice("step")) ? choice("step") : (numbers.at(-1) ?? 0);
  return { run, seed, step, record: stepRecord(seed, step), metrics: stepMetrics(seed, step) };
}

// The steps done, and before them the source model if there is a record of it.
function stepsToShow(seed) {
  return stepRecord(seed, 0) ? [0, ...stepNumbers(seed)] : stepNumbers(seed);
}

// Why nothing of the step can be shown, where the view is before the first one; else null.
function beforeSteps({ seed, step }) {
  if (step > 0) return null;
  return stepNumbers(seed).length === 0
    ? "No step is done yet."
    : "The source model has not seen the target: choose a step.";
}

function currentViews() {
  return [chosenRun(), runBeside()].filter(isKnown).map(viewOf);
}
