// Time and memory of each step.

const kCosts = [
  { key: "seconds", title: "Time", axis: "seconds", show: durationText },
  { key: "peak_memory_bytes", title: "Peak memory", axis: "GiB", unit: 2 ** 30, show: bytesText },
  { key: "peak_gpu_memory_bytes", title: "Peak GPU memory", axis: "GiB", unit: 2 ** 30, show: bytesText },
];

addSection({
  id: "cost",
  title: "Time and memory",
  short: "Time",
  how: "Seconds and largest memory of each step of this seed; a method that keeps up with its stream costs the same at every step.",
  scope: "run",
  has: ({ seed }) => (seed?.steps ?? []).some((record) => kCosts.some(({ key }) => isKnown(record[key]))),
  render: costSection,
});

function costSection({ run, seed }) {
  const steps = stepNumbers(seed).map((step) => stepRecord(seed, step) ?? { step });
  const costs = kCosts.filter((cost) => steps.some((step) => isKnown(step[cost.key])));
  const figures = kHaveCharts ? costs.map((cost) => costFigure(run, seed, steps, cost)) : [];
  return [
    dataTable({
      name: titleOf("Time and memory", { run, seed }),
      rows: steps,
      columns: [
        { title: "Step", value: (step) => step.step },
        formatted("Images", (step) => step.images, countText),
        ...costs.map(({ key, title, show }) => ({
          ...formatted(title, (step) => step[key], show),
          csv: [{ title: key, value: (step) => step[key] }],
        })),
      ],
    }),
    // Without charts the table above has all there is.
    kHaveCharts ? element("div", { class: "charts" }, figures) : [],
  ].flat();
}

function costFigure(run, seed, steps, { key, title, axis, unit = 1, show }) {
  return chartFigure({
    title,
    description: `${title} of each step of ${runName(run)}${ofSeed(seed)}`,
    numbers: numbersOf(steps, { step: (step) => step.step, [key]: (step) => step[key] }),
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
        // The same for all runs that are shown.
        y: { label: axis, beginAtZero: true, suggestedMax: largestCost(key) / unit },
        interaction: { mode: "index", intersect: false },
        tooltip: ({ dataIndex }) => `Step ${steps[dataIndex].step}: ${show(steps[dataIndex][key])}`,
      }),
    }),
  });
}

function largestCost(key) {
  return currentViews()
    .flatMap(({ seed }) => seed?.steps ?? [])
    .reduce((most, record) => Math.max(most, record[key] ?? 0), 0);
}
