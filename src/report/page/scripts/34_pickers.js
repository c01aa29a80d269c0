// The bar that says which run, seed and step the sections below it show. It stays in
// sight while they scroll by.

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
  bar.replaceChildren(
    ...[
      report.runs.length > 1
        ? labelledSelect("Run", runOptions, run.id, (id) => pick("run", id), { id: "pick-run" })
        : null,
      report.runs.length > 1
        ? labelledSelect(
            "Beside",
            [{ value: "", text: "no other" }, ...runOptions.filter((option) => option.value !== run.id)],
            runBeside()?.id ?? "",
            (id) => pick("beside", id || undefined),
            { id: "pick-beside" },
          )
        : null,
      seedsOf(run).length > 1
        ? labelledSelect(
            "Seed",
            seedsOf(run).map((other) => ({ value: other.seed, text: String(other.seed) })),
            seed.seed,
            (value) => pick("seed", Number(value)),
            { id: "pick-seed" },
          )
        : null,
      stepsToShow(seed).length > 1 ? stepPicker(seed, step, (value) => pick("step", value)) : null,
    ].filter(isKnown),
  );
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
  return element(
    "div",
    { class: "step-picker" },
    labelledSelect(
      "Step",
      numbers.map((number) => ({
        value: number,
        text: number === 0 ? "0 (source)" : `${number} of ${Math.max(...numbers)}`,
      })),
      step,
      (value) => pickStep(Number(value)),
      { id: "pick-step" },
    ),
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
