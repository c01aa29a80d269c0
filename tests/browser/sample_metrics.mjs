// The figures of docs/metrics.md from counts, so that a sample agrees with itself.

const percent = (part, whole) => (whole > 0 ? (100 * part) / whole : null);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export function metricsOf(schedule, predictions, steps) {
  const right = (label, t) => steps[t].classes.find((entry) => entry.label === label);
  const accuracy = (labels, t) =>
    percent(
      labels.reduce((sum, k) => sum + right(k, t).correct, 0),
      labels.reduce((sum, k) => sum + right(k, t).images, 0),
    );
  const groups = (t) => schedule.map((labels) => accuracy(labels, t));
  const s1 = (t) => mean(schedule[0].map((k) => percent(right(k, t).correct, right(k, t).images)));
  const last = predictions.length - 1;
  const numbers = Array.from({ length: last }, (_, t) => t + 1);
  const records = numbers.map((t) => ({
    step: t,
    accuracy_percent: accuracy(schedule.slice(0, t).flat(), t),
    s1_accuracy_percent: s1(t),
    accuracy_drop_percent: s1(1) - s1(t),
    relative_accuracy_drop_percent: s1(1) > 0 ? (100 * (s1(1) - s1(t))) / s1(1) : 0,
    group_accuracy_percent: groups(t),
    detection: detectionFigures(steps[t].detection),
    pseudo_labels: pseudoFigures(steps[t].pseudo_labels),
  }));
  const old = numbers.slice(0, -1);
  const all = (key) => records.map((record) => record[key]);
  const detected = records.filter((record) => record.detection);
  const pseudo = records.filter((record) => record.pseudo_labels).map((record) => record.pseudo_labels);
  const sum = (key) => pseudo.reduce((total, entry) => total + entry[key], 0);
  return {
    final_accuracy_percent: records.at(-1).accuracy_percent,
    mean_accuracy_percent: mean(all("accuracy_percent")),
    final_s1_accuracy_percent: s1(last),
    mean_s1_accuracy_percent: mean(all("s1_accuracy_percent")),
    forgetting_percent:
      old.length > 0
        ? mean(
            old.map(
              (j) =>
                Math.max(...old.filter((t) => t >= j).map((t) => groups(t)[j - 1])) - groups(last)[j - 1],
            ),
          )
        : 0,
    backward_transfer_percent:
      old.length > 0 ? mean(old.map((j) => groups(last)[j - 1] - groups(j)[j - 1])) : 0,
    mean_recall_percent:
      detected.length > 0 ? mean(detected.map((record) => record.detection.recall_percent)) : null,
    mean_precision_percent:
      detected.length > 0 ? mean(detected.map((record) => record.detection.precision_percent)) : null,
    pseudo_label_accuracy_percent: pseudo.length > 0 ? percent(sum("correct"), sum("images")) : null,
    source_group_accuracy_percent: groups(0),
    steps: records,
  };
}

function detectionFigures(detection) {
  if (!detection) return null;
  const count = (test) => detection.classes.filter(test).length;
  const both = count((entry) => entry.detected && entry.present);
  return {
    recall_percent: percent(
      both,
      count((entry) => entry.present),
    ),
    precision_percent: percent(
      both,
      count((entry) => entry.detected),
    ),
  };
}

function pseudoFigures(labels) {
  return labels ? { ...labels, accuracy_percent: percent(labels.correct, labels.images) } : null;
}
