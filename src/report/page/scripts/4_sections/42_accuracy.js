// Curves over the steps, all runs together.

const kCurves = [
  { key: "accuracy_percent", title: "Step-level accuracy", axis: "accuracy, %", isShare: true },
  { key: "s1_accuracy_percent", title: "S-1 accuracy", axis: "accuracy, %", isShare: true },
  { key: "accuracy_drop_percent", title: "Accuracy drop", axis: "drop of S-1, points" },
];

addSection({
  id: "accuracy",
  title: "Accuracy over the steps",
  short: "Accuracy",
  how: "Step-level accuracy is over all classes seen so far, S-1 accuracy over those of the first step: the further it falls, the more is forgotten. Bars are the standard deviation over seeds.",
  scope: "runs",
  when: () => knownCurves().length > 0,
  render: accuracySection,
});

// A run of a single step has no course to draw.
function knownCurves() {
  return kCurves
    .map((curve) => ({ ...curve, series: report.runs.map((run) => stepSeries(run, curve.key)) }))
    .filter((curve) => curve.series.some((points) => points.length > 1));
}

function accuracySection() {
  const curves = knownCurves();
  const shares = curves.filter((curve) => curve.isShare);
  // Charts of the same kind stand beside each other, so they have the same axis.
  const figures = curves.map((curve) => curveFigure(curve, curve.isShare ? shares : [curve]));
  const charts = element("div", { class: "charts" }, figures);
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

// Curves are shifted against each other where one would hide another, or its error bars.
function besideStep(series, index) {
  const shown = report.runs.filter((run) => !isHidden(run));
  const place = shown.indexOf(report.runs[index]);
  if (place < 0 || shown.length < 2 || !someCover(series)) return 0;
  return 0.24 * (place / (shown.length - 1) - 0.5);
}

// Whether a point of one curve lies on one of another, or there are error bars.
const kCovering = 0.8; // points of accuracy

function someCover(series) {
  const shown = series.filter((_, index) => !isHidden(report.runs[index]));
  if (shown.some((points) => points.some((point) => point.count > 1))) return true;
  return shown.some((points, index) =>
    shown
      .slice(index + 1)
      .some((others) =>
        points.some(({ step, mean }) =>
          others.some((other) => other.step === step && Math.abs(other.mean - mean) < kCovering),
        ),
      ),
  );
}

function curveFigure(curve, sameScale) {
  const rows = curve.series.flatMap((points, index) =>
    points.map((point) => ({ ...point, run: fullName(report.runs[index]) })),
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
        datasets: curve.series.map((points, index) => runDataset(curve.series, points, index)),
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
        y: { label: curve.axis, ticks: { includeBounds: false }, ...barRange(sameScale) },
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

// The axis reaches as far as the error bars, which Chart.js does not know, but not beyond what is
// possible: an accuracy is from 0 to 100, whatever its deviation, and a drop below 0 is drawn only
// where there is one.
function barRange(curves) {
  const points = curves
    .flatMap(({ series }) => series.filter((_, index) => !isHidden(report.runs[index])))
    .flat();
  if (points.length === 0) return {};
  const least = (value) => points.map(value).reduce((a, b) => Math.min(a, b));
  const low = least((point) => point.mean - point.deviation);
  const high = -least((point) => -point.mean - point.deviation);
  const room = 0.06 * Math.max(high - low, 5);
  const unit = high - low > 30 ? 10 : 5;
  const tens = (value, round) => unit * round(value / unit);
  const nothing = least((point) => point.mean) >= 0;
  const min = nothing ? Math.max(0, tens(low - room, Math.floor)) : tens(low - room, Math.floor);
  const max = tens(high + room, Math.ceil);
  return { min, max: curves[0].isShare ? Math.min(100, max) : max };
}

function curveTooltip(point, name) {
  const seeds = point.count > 1 ? ` (${point.count} seeds)` : "";
  return `${name}: step ${point.step}, ${meanText(point, 2)}${seeds}`;
}

function runDataset(series, points, index) {
  const run = report.runs[index];
  const shift = besideStep(series, index);
  const data = points.map((point) => ({ x: point.step + shift, y: point.mean }));
  return curveDataset(runStyle(run), runName(run), data, {
    deviations: points.map((point) => (point.count > 1 ? point.deviation : null)),
    hidden: isHidden(run),
    borderWidth: 2,
    pointRadius: 4,
    pointHoverRadius: 6,
    clip: false,
  });
}
