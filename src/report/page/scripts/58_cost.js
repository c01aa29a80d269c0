// What each step cost.

const kCosts = [
  { key: "seconds", title: "Time", axis: "seconds", show: durationText },
  { key: "peak_memory_bytes", title: "Peak memory", axis: "GiB", unit: 2 ** 30, show: bytesText },
  { key: "peak_gpu_memory_bytes", title: "Peak GPU memory", axis: "GiB", unit: 2 ** 30, show: bytesText },
];

addSection({
  id: "cost",
  title: "Time and memory",
  how: "Seconds and largest memory of each step of this seed; a method that keeps up with its stream costs the same at every step.",
  scope: "run",
  render: costSection,
});

function costSection({ run, seed }) {
  const steps = stepNumbers(seed).map((step) => stepRecord(seed, step) ?? { step });
  const costs = kCosts.filter((cost) => steps.some((step) => isKnown(step[cost.key])));
  if (costs.length === 0) return [emptyState("No times were recorded for the steps of this run.")];
  return [
    dataTable({
      name: `Time and memory, ${runName(run)}${ofSeed(seed)}`,
      rows: steps,
      columns: [
        { title: "Step", value: (step) => step.step },
        { title: "Images", value: (step) => step.images ?? null, show: (step) => countText(step.images) },
        ...costs.map(({ key, title, show }) => ({
          title,
          value: (step) => step[key] ?? null,
          show: (step) => show(step[key]),
          csv: [{ title: key, value: (step) => step[key] }],
        })),
      ],
    }),
    // Without charts the table above says it all.
    kHaveCharts
      ? element(
          "div",
          { class: "charts" },
          costs.map((cost) => costFigure(run, seed, steps, cost)),
        )
      : null,
  ].filter(isKnown);
}

function costFigure(run, seed, steps, { key, title, axis, unit = 1, show }) {
  return chartFigure({
    title,
    description: `${title} of each step of ${runName(run)}${ofSeed(seed)}`,
    numbers: { columns: ["step", key], rows: steps.map((step) => [step.step, step[key]]) },
    height: 200,
    config: () => ({
      type: "bar",
      data: {
        labels: steps.map((step) => String(step.step)),
        datasets: [
          {
            data: steps.map((step) => (isKnown(step[key]) ? step[key] / unit : null)),
            backgroundColor: themeColour("--series-0"),
            maxBarThickness: 36,
          },
        ],
      },
      options: chartOptions({
        x: { label: "step", grid: { display: false } },
        y: { label: axis, beginAtZero: true },
        interaction: { mode: "index", intersect: false },
        plugins: {
          tooltip: tooltipOf(
            (item) => `Step ${steps[item.dataIndex].step}: ${show(steps[item.dataIndex][key])}`,
          ),
        },
      }),
    }),
  });
}
