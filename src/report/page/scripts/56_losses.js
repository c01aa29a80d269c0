// Training: every term of the objective.

addSection({
  id: "losses",
  title: "Losses",
  how: "Mean of each term of the objective in each epoch, one step after the other; dashed lines are where a step begins.",
  scope: "run",
  render: lossSection,
});

function lossSection({ run, seed, column }) {
  const { terms = [], points = [] } = seed?.losses ?? {};
  if (terms.length === 0 || points.length === 0) {
    return [
      emptyState(
        `No losses were recorded: ${run.method === "source-only" ? "source-only does not train." : "no epoch is done yet, or the method does not train."}`,
      ),
    ];
  }
  const logarithmic = choice("log-losses", false);
  return [
    chartFigure({
      title: `Losses${ofSeed(seed)}`,
      description: `${terms.join(", ")} of ${runName(run)}${ofSeed(seed)}, over ${plural(points.length, "epoch")}`,
      numbers: {
        columns: ["step", "epoch", ...terms, "images_per_s", "seconds", "data_s"],
        rows: points.map((point) => [
          point.step,
          point.epoch,
          ...terms.map((_, term) => point.values?.[term]),
          point.images_per_s,
          point.seconds,
          point.data_s,
        ]),
      },
      controls: kHaveCharts
        ? [
            labelledCheckbox("logarithmic", logarithmic, (value) => chooseIn("losses", "log-losses", value), {
              id: `log-losses-${column}`,
            }),
          ]
        : [],
      below: lossLegend(terms),
      config: () => lossConfig(terms, points, logarithmic),
    }),
  ];
}

function lossConfig(terms, points, logarithmic) {
  const begins = points.flatMap((point, index) =>
    index === 0 || point.step !== points[index - 1].step
      ? [{ axis: "x", value: index, label: shortStep(points, point.step) }]
      : [],
  );
  // Zero and less have no logarithm.
  const drawn = (value) => (isKnown(value) && (!logarithmic || value > 0) ? value : null);
  return {
    type: "line",
    data: {
      datasets: terms.map((term, number) => {
        const style = seriesStyle(number);
        const colour = themeColour(style.variable);
        return {
          label: term,
          data: points.map((point, index) => ({ x: index, y: drawn(point.values?.[number]) })),
          borderColor: colour,
          backgroundColor: colour,
          borderDash: style.dash,
          borderWidth: 1.5,
          pointStyle: style.mark,
          // A mark now and then is enough to tell the terms apart without their colours.
          pointRadius: ({ dataIndex }) => (dataIndex % Math.ceil(points.length / 45) === 0 ? 3 : 0),
          pointHoverRadius: 5,
          // Nothing connects the end of a step with the beginning of the next.
          segment: {
            borderColor: ({ p0DataIndex, p1DataIndex }) =>
              points[p0DataIndex].step === points[p1DataIndex].step ? undefined : "transparent",
          },
        };
      }),
    },
    options: chartOptions({
      x: {
        type: "linear",
        label: "epoch, over all steps",
        max: points.length,
        ticks: { precision: 0 },
        grid: { display: false },
      },
      y: { type: logarithmic ? "logarithmic" : "linear", label: "loss", grace: logarithmic ? 0 : "12%" },
      plugins: {
        tooltip: tooltipOf(
          (item) =>
            `${item.dataset.label}: step ${points[item.dataIndex].step}, epoch ${points[item.dataIndex].epoch}, ${significant(item.parsed.y, 4)}`,
        ),
      },
    }),
    plugins: [lineMarks(begins)],
  };
}

// With many steps there is room for their numbers only.
function shortStep(points, step) {
  return new Set(points.map((point) => point.step)).size > 8 ? String(step) : `step ${step}`;
}

function lossLegend(terms) {
  if (!kHaveCharts) return null;
  return element(
    "ul",
    { class: "outcomes" },
    terms.map((term, index) => element("li", {}, seriesMark(index), term)),
  );
}
