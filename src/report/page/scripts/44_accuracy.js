// Curves over the steps, all runs together.

const kCurves = [
  { key: "accuracy_percent", title: "Step-level accuracy", axis: "accuracy, %" },
  { key: "s1_accuracy_percent", title: "S-1 accuracy", axis: "accuracy, %" },
  { key: "accuracy_drop_percent", title: "Accuracy drop", axis: "drop of S-1, points" },
];

addSection({
  id: "accuracy",
  title: "Accuracy over the steps",
  how: "Step-level accuracy is over all classes seen so far, S-1 accuracy over those of the first step: the further it falls, the more is forgotten. Bars are the standard deviation over seeds.",
  scope: "runs",
  render: accuracySection,
});

function accuracySection() {
  const curves = kCurves
    .map((curve) => ({ ...curve, series: report.runs.map((run) => stepSeries(run, curve.key)) }))
    .filter((curve) => curve.series.some((points) => points.length > 0));
  if (curves.length === 0) return emptyState("These runs have no labels, so their accuracy is not known.");
  const charts = element("div", { class: "charts" }, curves.map(curveFigure));
  return [curveLegend(charts), charts];
}

// Of one run: by step, mean and deviation over the seeds that have got so far.
function stepSeries(run, key) {
  const steps = [...new Set(seedsOf(run).flatMap(stepNumbers))].sort((a, b) => a - b);
  return steps
    .map((step) => ({ step, ...overSeeds(run, (seed) => stepMetrics(seed, step)?.[key]) }))
    .filter((point) => point.count > 0);
}

// Further curves are not drawn at first: too many cannot be told apart.
const kMostCurves = 8;

function hiddenRuns() {
  return choice(
    "hidden",
    report.runs.slice(kMostCurves).map((run) => run.id),
  );
}

function isHidden(run) {
  return hiddenRuns().includes(run.id);
}

// Curves of several seeds are shifted against each other, so that their error bars can be seen.
function besideStep(index) {
  const several = report.runs.some((run) => seedsOf(run).length > 1);
  const shown = report.runs.filter((run) => !isHidden(run));
  const place = shown.indexOf(report.runs[index]);
  return several && place >= 0 && shown.length > 1 ? 0.24 * (place / (shown.length - 1) - 0.5) : 0;
}

function curveFigure(curve) {
  const rows = curve.series.flatMap((points, index) =>
    points.map((point) => ({ ...point, run: runName(report.runs[index]) })),
  );
  const numbers = numbersOf(rows, {
    run: (point) => point.run,
    step: (point) => point.step,
    [`${curve.key} mean`]: (point) => point.mean,
    [`${curve.key} deviation`]: (point) => point.deviation,
    seeds: (point) => point.count,
  });
  return chartFigure({
    title: curve.title,
    numbers,
    description: `${curve.title} of ${plural(report.runs.length, "run")} by step`,
    config: () => ({
      type: "line",
      data: {
        datasets: curve.series.map((points, index) => runDataset(report.runs[index], points, index)),
      },
      options: chartOptions({
        x: {
          type: "linear",
          label: "step",
          min: 0.5,
          max: Math.max(...rows.map((point) => point.step)) + 0.5,
          ticks: { stepSize: 1, autoSkip: true },
          afterBuildTicks: wholeSteps,
        },
        y: { label: curve.axis, ...barRange(curve.series), grace: "4%" },
        tooltip: (item) => curveTooltip(curve.series[item.datasetIndex][item.dataIndex], item.dataset.label),
      }),
      plugins: [errorBars],
    }),
  });
}

// The axis has room at both ends, but ticks at steps only.
function wholeSteps(axis) {
  axis.ticks = Array.from({ length: Math.floor(axis.max) }, (_, index) => ({ value: index + 1 }));
}

// The axis reaches as far as the error bars, which Chart.js does not know.
function barRange(series) {
  const points = series.filter((_, index) => !isHidden(report.runs[index])).flat();
  if (points.length === 0) return {};
  const low = Math.min(...points.map((point) => point.mean - point.deviation));
  const high = Math.max(...points.map((point) => point.mean + point.deviation));
  // No accuracy is above 100, though a bar may be.
  return high > 96 ? { suggestedMin: low, max: 100 } : { suggestedMin: low, suggestedMax: high };
}

function curveTooltip(point, name) {
  const seeds = point.count > 1 ? ` (${point.count} seeds)` : "";
  return `${name}: step ${point.step}, ${meanText(point, 2)}${seeds}`;
}

function runDataset(run, points, index) {
  const data = points.map((point) => ({ x: point.step + besideStep(index), y: point.mean }));
  return curveDataset(index, runName(run), data, {
    deviations: points.map((point) => (point.count > 1 ? point.deviation : null)),
    hidden: isHidden(run),
    borderWidth: 2,
    pointRadius: 4,
    pointHoverRadius: 6,
    clip: false,
  });
}
