// All runs in one table.

addSection({
  id: "summary",
  title: "Summary",
  how: "One row per run, in percent, mean ± standard deviation over its seeds; the best of the finished runs on the same task is bold (for forgetting, the lowest).",
  scope: "runs",
  when: () => report.runs.length > 0,
  render: summaryTable,
});

function summaryTable() {
  const known = kFigures.filter((figure) => report.runs.some((run) => figureOf(run, figure).count > 0));
  const table = dataTable({
    name: "Summary",
    rows: report.runs,
    group: taskKey,
    comparable: isFinished,
    columns: [
      { title: "Run", text: true, value: runName, show: runCell, csv: runColumnsOfCsv() },
      { title: "Seeds", value: (run) => seedsOf(run).length },
      ...known.map((figure) => ({
        title: figure.title,
        best: figure.best,
        value: (run) => figureOf(run, figure).mean,
        show: (run) => meanCell(figureOf(run, figure)),
        csv: [
          { title: `${figure.key} mean`, value: (run) => figureOf(run, figure).mean },
          { title: `${figure.key} deviation`, value: (run) => figureOf(run, figure).deviation },
        ],
      })),
      {
        title: "Time",
        value: (run) => overSeeds(run, seedSeconds).mean,
        show: (run) => durationText(overSeeds(run, seedSeconds).mean),
        csv: [{ title: "seconds mean", value: (run) => overSeeds(run, seedSeconds).mean }],
      },
    ],
  });
  return known.length > 0
    ? [table]
    : [
        table,
        emptyState(
          "These runs were done without labels, so there is no accuracy to show; proca run has labels and measures it.",
        ),
      ];
}

function meanCell(figure) {
  const mean = decimals(figure.mean);
  return figure.count > 1
    ? element("span", {}, mean, element("span", { class: "deviation" }, ` ± ${decimals(figure.deviation)}`))
    : mean;
}

function figureOf(run, figure) {
  return overSeeds(run, (seed) => seed.metrics?.[figure.key]);
}

function seedSeconds(seed) {
  return seed.machine?.seconds;
}

function runCell(run) {
  return [
    report.runs.length > 1
      ? button(runName(run), () => showRun(run), { class: "link", title: "Show this run in detail" })
      : runName(run),
    isFinished(run) ? "" : element("span", { class: "badge" }, progressText(run)),
  ].reduce((cell, part) => (cell.append(part), cell), element("span", { class: "run-cell" }));
}

function runColumnsOfCsv() {
  const word = (key) => ({ title: key, value: (run) => run[key] });
  return [
    { title: "run", value: runName },
    ...["preset", "source", "target", "method", "status", "folder"].map(word),
  ];
}
