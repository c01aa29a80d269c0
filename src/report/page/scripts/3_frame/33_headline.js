// The first question first: does adapting help? A few large figures, and the answer in words.

// A gain or loss below this is none, in points of accuracy.
const kNoDifference = 0.5;

function headline() {
  const answer = labelledAnswer() ?? unlabelledAnswer();
  if (!answer) return null;
  const figures = answer.figures
    .filter(Boolean)
    .map(({ value, label, kind }) =>
      element(
        "div",
        { class: ["figure", kind].filter(Boolean).join(" ") },
        element("div", { class: "value" }, value),
        element("div", { class: "label" }, label),
      ),
    );
  return element(
    "section",
    { id: "headline", "aria-label": "The result in short" },
    element("div", { class: "figures" }, figures),
    element("p", { class: "verdict" }, element("strong", {}, answer.verdict), " ", answer.sentence),
    imageStrips(),
  );
}

// Accuracy of the best method against that of the source model.

function labelledAnswer() {
  const measured = report.runs.filter((run) => isKnown(finalAccuracy(run)));
  if (measured.length === 0) return null;
  const methods = methodResults(measured.filter((run) => !isSourceOnly(run)));
  if (methods.length === 0) {
    const accuracy = statistics(measured.map(finalAccuracy)).mean;
    return {
      figures: [{ value: percentText(accuracy), label: "source only", kind: "baseline" }],
      verdict: `Source only ${percentText(accuracy)}.`,
      sentence: "These runs measure the source model alone; nothing was adapted.",
    };
  }
  const best = methods.reduce((a, b) => (b.accuracy > a.accuracy ? b : a));
  const name = methodName(best.method);
  // Of the figures as they are shown, so that they agree.
  const shown = (value) => Number(value.toFixed(1));
  const gain = isKnown(best.source) ? shown(best.accuracy) - shown(best.source) : null;
  const compared = isKnown(gain) ? `, source only ${percentText(best.source)}, ${signed(gain)}` : "";
  return {
    figures: [
      { value: percentText(best.accuracy), label: `${name}, right after the last step`, kind: "method" },
      isKnown(gain) && { value: percentText(best.source), label: "source only", kind: "baseline" },
      isKnown(gain) && { value: signed(gain), label: "points by adapting", kind: gainKind(gain) },
      lastFigure(best),
    ],
    verdict: `${name} ${percentText(best.accuracy)}${compared}.`,
    sentence: labelledSentence(best, methods, gain),
  };
}

// Share of right images over all classes seen, after the last step done.
function finalAccuracy(run) {
  return overSeeds(run, (seed) => seed.metrics?.final_accuracy_percent).mean;
}

// The source model on the same images: a finished run of its own on this task, or step 0 of this one.
function sourceAccuracy(run) {
  const isBaseline = (other) => isSourceOnly(other) && isFinished(other) && taskKey(other) === taskKey(run);
  const baseline = isFinished(run) ? report.runs.find(isBaseline) : null;
  return baseline ? finalAccuracy(baseline) : overSeeds(run, (seed) => sourceAccuracyOfSeed(run, seed)).mean;
}

function sourceAccuracyOfSeed(run, seed) {
  const seen = run.schedule?.slice(0, stepNumbers(seed).at(-1) ?? 0).flat();
  const classes = (stepRecord(seed, 0)?.classes ?? []).filter(({ label }) => seen?.includes(label) ?? true);
  const sum = (key) => classes.reduce((total, entry) => total + (entry[key] ?? 0), 0);
  return sum("images") > 0 ? (100 * sum("correct")) / sum("images") : null;
}

// By method, means over its tasks. Where methods have done different tasks, those that all have
// done are compared, if there are any.
function methodResults(runs) {
  const groups = runsOfMethods(runs);
  const inAll = (run) => groups.every((group) => group.some((other) => taskKey(other) === taskKey(run)));
  const common = runs.filter(inAll);
  return groups.flatMap((all) => {
    const members = common.length > 0 ? all.filter((run) => common.includes(run)) : all;
    if (members.length === 0) return [];
    const sources = members.map(sourceAccuracy);
    return {
      method: members[0].method,
      members,
      accuracy: statistics(members.map(finalAccuracy)).mean,
      source: sources.every(isKnown) ? statistics(sources).mean : null,
      tasks: new Set(members.map(taskKey)).size,
    };
  });
}

// The runs of each method. A method that has done a task several times, with other options, counts
// as several.
function runsOfMethods(runs) {
  const groupBy = (key) => [...Map.groupBy(runs, key).values()];
  const isTwice = groupBy((run) => JSON.stringify([run.method, taskKey(run)])).some(
    (same) => same.length > 1,
  );
  if (!isTwice) return groupBy((run) => run.method);
  const places = ["source", "target", "data-root", "source-state", "root", "weights"];
  const options = (run) => (run.options ?? []).filter(({ key }) => !places.includes(key));
  return groupBy((run) => JSON.stringify([run.method, options(run).map(({ key, value }) => [key, value])]));
}

function labelledSentence({ method, members, tasks }, methods, gain) {
  const name = methodName(method);
  const seeds = members.map((run) => seedsOf(run).length).reduce((a, b) => Math.max(a, b));
  const words = !isKnown(gain)
    ? "What the source model alone would reach was not measured."
    : gain > kNoDifference
      ? "Adapting helped."
      : gain < -kNoDifference
        ? "Adapting did harm: the source model alone is better."
        : "Adapting made no difference.";
  const isOneMethod = methods.every((other) => other.method === method);
  const others = isOneMethod ? "choices of options" : "methods";
  const best = methods.length > 1 ? ` ${name} is the best of ${methods.length} ${others}.` : "";
  const over = [tasks > 1 && plural(tasks, "task"), seeds > 1 && plural(seeds, "seed")].filter(Boolean);
  const means = over.length > 0 ? ` Means of ${over.join(" and ")}.` : "";
  const unfinished = members.some((run) => !isFinished(run)) ? " Not all of them have ended." : "";
  return `${words}${best}${means}${unfinished}${verdictCounts(members)}`;
}

// " Verdicts on 9 steps: 6 good, 2 doubtful, 1 refused."
function verdictCounts(runs) {
  const verdicts = runs
    .flatMap(seedsOf)
    .flatMap(healthRows)
    .map((row) => row.verdict);
  const counts = Object.keys(kVerdicts)
    .map((verdict) => [verdicts.filter((other) => other === verdict).length, verdict])
    .filter(([count]) => count > 0)
    .map(([count, verdict]) => `${count} ${verdict}`);
  return counts.length > 0 ? ` Verdicts on ${plural(verdicts.length, "step")}: ${counts.join(", ")}.` : "";
}

function lastFigure({ members }) {
  const mean = (key) =>
    statistics(members.map((run) => overSeeds(run, (seed) => seed.metrics?.[key]).mean)).mean;
  const labels = mean("pseudo_label_accuracy_percent");
  if (isKnown(labels)) return { value: percentText(labels), label: "of the pseudo-labels right" };
  const forgotten = mean("forgetting_percent");
  return isKnown(forgotten) && { value: decimals(forgotten), label: "points forgotten" };
}

function gainKind(gain) {
  return gain > kNoDifference ? "good" : gain < -kNoDifference ? "refused" : null;
}

function percentText(value) {
  return isKnown(value) ? `${decimals(value)} %` : kNotKnown;
}
