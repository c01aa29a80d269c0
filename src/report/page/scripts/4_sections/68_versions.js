// Device, times and versions of the runs.

addSection({
  id: "versions",
  title: "Machines and versions",
  short: "Machines",
  how: "One row per seed: what is needed to do the run again.",
  scope: "runs",
  render: versionsTable,
});

function versionsTable() {
  const rows = report.runs.flatMap((run) =>
    seedsOf(run).map((seed) => ({ run, seed, machine: seed.machine ?? {} })),
  );
  if (rows.length === 0) return emptyState("No seed of these runs has begun.");
  const text = (title, key) => ({ title, text: true, value: (row) => row.machine[key] });
  const number = (title, key, show) => formatted(title, (row) => row.machine[key], show);
  const columns = [
    { title: "Run", text: true, value: (row) => runName(row.run) },
    { title: "Seed", value: (row) => row.seed.seed },
    text("Device", "device"),
    { ...text("Threads", "threads"), text: false },
    text("LibTorch", "libtorch"),
    text("Precision", "precision"),
    { ...number("Started, UTC", "started", timeText), text: true },
    { ...number("Ended, UTC", "ended", timeText), text: true },
    number("Time", "seconds", durationText),
    number("Peak memory", "peak_memory_bytes", bytesText),
    number("Peak GPU memory", "peak_gpu_memory_bytes", bytesText),
    { title: "Folder", text: true, value: (row) => row.run.folder },
  ];
  return dataTable({ name: "Machines and versions", columns: knownColumns(columns, rows), rows });
}
