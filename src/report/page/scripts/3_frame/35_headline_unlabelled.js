// The result in short of a state, whose images have no labels: what is known of its last step.

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
