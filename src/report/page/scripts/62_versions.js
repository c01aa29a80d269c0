// Where, when and with what the runs were done.

addSection({
  id: "versions",
  title: "Machines and versions",
  how: "One row per seed: what is needed to do the run again.",
  scope: "runs",
  when: () => report.runs.length > 0,
  render: versionsTable,
});

function versionsTable() {
  const rows = report.runs.flatMap((run) =>
    seedsOf(run).map((seed) => ({ run, seed, machine: seed.machine ?? {} })),
  );
  if (rows.length === 0) return [emptyState("No seed of these runs has begun.")];
  const word = (title, key, text = true) => ({ title, text, value: (row) => row.machine[key] ?? null });
  const columns = [
    { title: "Run", text: true, value: (row) => runName(row.run) },
    { title: "Seed", value: (row) => row.seed.seed ?? null },
    word("Device", "device"),
    word("Threads", "threads", false),
    word("LibTorch", "libtorch"),
    word("Precision", "precision"),
    {
      title: "Started, UTC",
      text: true,
      value: (row) => row.machine.started ?? null,
      show: (row) => timeText(row.machine.started),
    },
    {
      title: "Ended, UTC",
      text: true,
      value: (row) => row.machine.ended ?? null,
      show: (row) => timeText(row.machine.ended),
    },
    {
      title: "Time",
      value: (row) => row.machine.seconds ?? null,
      show: (row) => durationText(row.machine.seconds),
    },
    {
      title: "Peak memory",
      value: (row) => row.machine.peak_memory_bytes ?? null,
      show: (row) => bytesText(row.machine.peak_memory_bytes),
    },
    {
      title: "Peak GPU memory",
      value: (row) => row.machine.peak_gpu_memory_bytes ?? null,
      show: (row) => bytesText(row.machine.peak_gpu_memory_bytes),
    },
    { title: "Folder", text: true, value: (row) => row.run.folder ?? null },
  ].filter((column) => rows.some((row) => isKnown(column.value(row))));
  return [dataTable({ name: "Machines and versions", columns, rows })];
}
