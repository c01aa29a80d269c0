// The bar that chooses run, seed and step of the sections below it. It stays in sight while they
// scroll.

function pickerBar() {
  return element("div", {
    class: "picker-bar",
    role: "group",
    "aria-label": "Run, seed and step shown below",
  });
}

function fillPickerBar(bar) {
  const focused = bar.contains(document.activeElement) ? document.activeElement.id : "";
  const { run, seed, step } = viewOf(chosenRun());
  const runOptions = report.runs.map((other) => ({ value: other.id, text: runName(other) }));
  document.getElementById("shown-run").textContent = `Below: ${currentViews()
    .map((view) => `${runName(view.run)}${ofSeed(view.seed)}, step ${view.step}`)
    .join("; ")}.`;
  const pick = (name, value) => {
    choose(name, value);
    fillPickerBar(bar);
    fillRunSections();
  };
  const pickers = [];
  if (report.runs.length > 1) {
    const others = runOptions.filter((option) => option.value !== run.id);
    const besides = [{ value: "", text: "no other" }, ...others];
    const pickBeside = (id) => pick("beside", id || undefined);
    pickers.push(
      labelledSelect("Run", runOptions, run.id, (id) => pick("run", id), { id: "pick-run" }),
      labelledSelect("Beside", besides, runBeside()?.id ?? "", pickBeside, { id: "pick-beside" }),
    );
  }
  if (seedsOf(run).length > 1) {
    const seeds = seedsOf(run).map((other) => ({ value: other.seed, text: String(other.seed) }));
    const pickSeed = (value) => pick("seed", Number(value));
    pickers.push(labelledSelect("Seed", seeds, seed.seed, pickSeed, { id: "pick-seed" }));
  }
  if (stepsToShow(seed).length > 1) pickers.push(stepPicker(seed, step, (value) => pick("step", value)));
  bar.replaceChildren(...pickers);
  bar.hidden = bar.childElementCount === 0;
  if (focused) document.getElementById(focused)?.focus();
}

function stepPicker(seed, step, pickStep) {
  const numbers = stepsToShow(seed);
  const index = numbers.indexOf(step);
  const move = (text, by, label, id) =>
    button(text, () => pickStep(numbers[index + by]), {
      class: "small",
      "aria-label": label,
      disabled: numbers[index + by] === undefined,
      id,
    });
  const options = numbers.map((number) => ({
    value: number,
    text: number === 0 ? "0 (source)" : `${number} of ${numbers.at(-1)}`,
  }));
  return element(
    "div",
    { class: "step-picker" },
    labelledSelect("Step", options, step, (value) => pickStep(Number(value)), { id: "pick-step" }),
    move("‹", -1, "Step before", "step-before"),
    move("›", 1, "Step after", "step-after"),
  );
}

// From a run's name in the summary to its details.
function showRun(run) {
  choose("run", run.id);
  fillPickerBar(document.querySelector(".picker-bar"));
  fillRunSections();
  document.getElementById("details").scrollIntoView();
}
