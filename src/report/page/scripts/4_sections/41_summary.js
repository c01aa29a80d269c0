// All runs in one table.

addSection({
  id: "summary",
  title: "Summary",
  how: "One row per run, in percent, mean ± standard deviation over its seeds; the best of the finished runs on the same task is bold (for forgetting, the lowest, and of methods that train only).",
  scope: "runs",
  when: () => report.runs.some((run) => isKnown(finalAccuracy(run))) || report.runs.length > 1,
  render: summaryTable,
});

function summaryTable() {
  const known = kFigures.filter((figure) => report.runs.some((run) => figureOf(run, figure).count > 0));
  return dataTable({
    name: "Summary",
    rows: report.runs,
    group: taskKey,
    comparable: isFinished,
    columns: [
      { title: "Run", text: true, value: runName, show: runCell, csv: runColumnsOfCsv() },
      report.runs.some((run) => seedsOf(run).length !== 1) && {
        title: "Seeds",
        value: (run) => seedsOf(run).length,
      },
      ...known.map((figure) => ({
        title: figure.title,
        best: figure.best,
        judged: (run) => !(figure.learns && isSourceOnly(run)),
        value: (run) => figureOf(run, figure).mean,
        show: (run) => meanCell(figureOf(run, figure)),
        csv: [
          { title: `${figure.key} mean`, value: (run) => figureOf(run, figure).mean },
          { title: `${figure.key} deviation`, value: (run) => figureOf(run, figure).deviation },
        ],
      })),
      {
        ...formatted("Time", meanSeconds, durationText),
        csv: [{ title: "seconds mean", value: meanSeconds }],
      },
    ].filter(Boolean),
  });
}

function meanCell(figure) {
  const deviation = element("span", { class: "deviation" }, ` ± ${decimals(figure.deviation)}`);
  return element("span", {}, decimals(figure.mean), figure.count > 1 && deviation);
}

function figureOf(run, figure) {
  return overSeeds(run, (seed) => seed.metrics?.[figure.key]);
}

function meanSeconds(run) {
  return overSeeds(run, (seed) => seed.machine?.seconds).mean;
}

function runCell(run) {
  const name =
    report.runs.length > 1
      ? button(runName(run), () => showRun(run), {
          class: "link",
          title: `${fullName(run)}: show it in detail`,
        })
      : runName(run);
  const badge = !isFinished(run) && element("span", { class: "badge" }, progressText(run));
  return element("span", { class: "run-cell" }, name, badge);
}

function runColumnsOfCsv() {
  const word = (key) => ({ title: key, value: (run) => run[key] });
  return [
    { title: "run", value: fullName },
    ...["preset", "source", "target", "method", "status", "folder"].map(word),
  ];
}
