// Training: every term of the objective.

addSection({
  id: "losses",
  title: "Losses",
  how: "Mean of each term of the objective in each epoch, one step after the other; dashed lines are where a step begins.",
  scope: "run",
  has: ({ seed }) => seed?.losses?.points?.length > 0,
  render: lossSection,
});

function lossSection({ run, seed, column }) {
  const { terms = [], points = [] } = seed.losses;
  const logarithmic = choice("log-losses", false);
  const chooseScale = (value) => chooseIn("losses", "log-losses", value);
  const control = labelledCheckbox("logarithmic", logarithmic, chooseScale, { id: `log-losses-${column}` });
  return chartFigure({
    title: `Losses${ofSeed(seed)}`,
    description: `${terms.join(", ")} of ${runName(run)}${ofSeed(seed)}, over ${plural(points.length, "epoch")}`,
    numbers: numbersOf(points, {
      step: (point) => point.step,
      epoch: (point) => point.epoch,
      ...Object.fromEntries(terms.map((term, index) => [term, (point) => point.values?.[index]])),
      images_per_s: (point) => point.images_per_s,
      seconds: (point) => point.seconds,
      data_s: (point) => point.data_s,
    }),
    controls: kHaveCharts && control,
    below: kHaveCharts
      ? list(
          "outcomes",
          terms.map((term, index) => [seriesMark(seriesStyle(index)), term]),
        )
      : null,
    config: () => lossConfig(terms, points, logarithmic),
  });
}

function lossConfig(terms, points, logarithmic) {
  const begins = points.flatMap((point, index) =>
    index === 0 || point.step !== points[index - 1].step
      ? [{ axis: "x", value: index, label: shortStep(points, point.step) }]
      : [],
  );
  // Zero and less have no logarithm.
  const drawn = (value) => (isKnown(value) && (!logarithmic || value > 0) ? value : null);
  const curveOf = (term, number) => {
    const data = points.map((point, index) => ({ x: index, y: drawn(point.values?.[number]) }));
    return curveDataset(seriesStyle(number), term, data, {
      borderWidth: 1.5,
      // Some marks are enough to tell the terms apart without their colours.
      pointRadius: ({ dataIndex }) => (dataIndex % Math.ceil(points.length / 45) === 0 ? 3 : 0),
      pointHoverRadius: 5,
      // No line from the end of a step to the beginning of the next.
      segment: {
        borderColor: ({ p0DataIndex, p1DataIndex }) =>
          points[p0DataIndex].step === points[p1DataIndex].step ? undefined : "transparent",
      },
    });
  };
  return {
    type: "line",
    data: { datasets: terms.map(curveOf) },
    options: chartOptions({
      x: {
        type: "linear",
        label: "epoch, over all steps",
        max: points.length,
        ticks: { precision: 0 },
        grid: { display: false },
      },
      y: { type: logarithmic ? "logarithmic" : "linear", label: "loss", ...lossRange(logarithmic) },
      tooltip: ({ dataset, dataIndex, parsed }) =>
        `${dataset.label}: step ${points[dataIndex].step}, epoch ${points[dataIndex].epoch}, ${significant(parsed.y, 4)}`,
    }),
    plugins: [lineMarks(begins)],
  };
}

// With many steps there is room for their numbers only.
function shortStep(points, step) {
  return new Set(points.map((point) => point.step)).size > 8 ? String(step) : `step ${step}`;
}

// The same for all runs that are shown; from zero, unless a term is negative.
function lossRange(logarithmic) {
  if (logarithmic) return {};
  const values = currentViews()
    .flatMap(({ seed }) => seed?.losses?.points ?? [])
    .flatMap((point) => point.values ?? [])
    .filter(isKnown);
  const low = values.reduce((a, b) => Math.min(a, b), 0);
  const high = values.reduce((a, b) => Math.max(a, b), 0);
  return { suggestedMin: low, suggestedMax: high + 0.1 * (high - low) };
}
