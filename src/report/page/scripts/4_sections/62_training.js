// Source training: what a model that has not been adapted has to show.

addSection({
  id: "training",
  title: "Source training",
  short: "Source",
  how: "The loss in each epoch of source training, and the accuracy on the source images that were held out.",
  scope: "run",
  has: ({ seed }) => seed?.training?.points?.length > 0,
  render: trainingSection,
});

function trainingSection(view) {
  const { points } = view.seed.training;
  const isMeasured = points.some((point) => isKnown(point.holdout_accuracy_percent));
  const figures = [
    trainingFigure(view, "Loss", "loss", "loss", { suggestedMin: 0 }),
    isMeasured &&
      trainingFigure(view, "Held-out accuracy", "holdout_accuracy_percent", "accuracy, %", {
        min: 0,
        max: 100,
      }),
  ];
  return element("div", { class: "charts" }, figures);
}

function trainingFigure({ run, seed }, title, key, axis, range) {
  const { points } = seed.training;
  return chartFigure({
    title,
    description: `${title} of source training of ${runName(run)}, over ${plural(points.length, "epoch")}`,
    numbers: numbersOf(points, { epoch: (point) => point.epoch, [key]: (point) => point[key] }),
    height: 240,
    config: () => ({
      type: "line",
      data: {
        datasets: [
          curveDataset(
            seriesStyle(0),
            title,
            points.map((point) => ({ x: point.epoch, y: point[key] ?? null })),
            { borderWidth: 2, pointRadius: points.length > 40 ? 0 : 3, clip: false },
          ),
        ],
      },
      options: chartOptions({
        x: { type: "linear", label: "epoch", ticks: { precision: 0 }, grid: { display: false } },
        y: { label: axis, ...range },
        tooltip: ({ parsed }) => `Epoch ${parsed.x}: ${significant(parsed.y, 4)}`,
      }),
    }),
  });
}
