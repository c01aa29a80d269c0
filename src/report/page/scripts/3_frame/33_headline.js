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

// --- With labels: accuracy of the best method against the source model's -----

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
  return `${words}${best}${means}${unfinished}`;
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

// --- Without labels: what is known of the last step --------------------------

function unlabelledAnswer() {
  const run = report.runs.find((candidate) => seedsOf(candidate).length > 0);
  if (!run) return null;
  const seed = seedsOf(run)[0];
  const steps = stepNumbers(seed);
  if (steps.length === 0) return untouchedAnswer(run, seed);
  const record = stepRecord(seed, steps.at(-1)) ?? {};
  const images = steps.reduce((sum, step) => sum + (stepRecord(seed, step)?.images ?? 0), 0);
  const { health, detection } = record;
  const found = health?.classes_found ?? detection?.classes?.filter((entry) => entry.detected).length;
  const figures = [
    { value: countText(steps.length), label: steps.length === 1 ? "step done" : "steps done" },
    images > 0 && { value: countText(images), label: images === 1 ? "image seen" : "images seen" },
    isKnown(found) && {
      value: countText(found),
      label: `of ${run.classes?.length ?? "all"} classes found in the last step`,
    },
  ];
  const which = report.runs.length > 1 ? `${runName(run)}: ` : "";
  if (!health) {
    const sentence = "These images have no labels, so it is not known how many are recognised.";
    return { figures, verdict: `${which}${plural(steps.length, "step")} done.`, sentence };
  }
  const trust = isKnown(health.trust) && {
    value: `${Math.round(100 * health.trust)} %`,
    label: "of the labels expected right",
  };
  return {
    figures: [
      { value: verdictWord(health.verdict), label: "last step", kind: verdictKind(health.verdict) },
      trust,
      ...figures.slice(1),
    ],
    verdict: `${which}Step ${steps.at(-1)} is ${health.verdict}.`,
    sentence: String(health.reason ?? ""),
  };
}

// A source model that no step has changed.
function untouchedAnswer(run, seed) {
  const points = seed.training?.points ?? [];
  const accuracy = points
    .map((point) => point.holdout_accuracy_percent)
    .filter(isKnown)
    .at(-1);
  const figures = [
    isKnown(accuracy) && {
      value: percentText(accuracy),
      label: "right on held-out source images",
      kind: "baseline",
    },
    points.length > 0 && {
      value: countText(points.length),
      label: points.length === 1 ? "epoch of source training" : "epochs of source training",
    },
    run.classes?.length > 0 && { value: countText(run.classes.length), label: "classes" },
  ];
  if (!figures.some(Boolean)) return null;
  const sentence = "It has not seen images of the target yet: proca adapt takes it there.";
  return { figures, verdict: "A source model.", sentence };
}
