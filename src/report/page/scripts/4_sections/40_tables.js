// Tables of `proca reproduce`, as they were written.

addSection({
  id: "tables",
  title: "Tables",
  how: "Numbers of this experiment as proca reproduce wrote them; the best of each column or row is bold.",
  scope: "runs",
  when: () => report.tables.length > 0,
  render: () => report.tables.map(reproducedTable),
});

function reproducedTable(table) {
  const cellText = (row, index) => row.cells?.[index]?.text ?? null;
  const columns = table.columns ?? [];
  const rows = table.rows ?? [];
  const isNumeric = (index) => rows.some((row) => isKnown(leadingNumber(cellText(row, index))));
  return element(
    "div",
    { class: "reproduced" },
    dataTable({
      title: table.title ?? "Table",
      name: table.title ?? "Table",
      rows,
      columns: columns.map((title, index) =>
        index === 0
          ? { title, text: true, value: (row) => row.label }
          : {
              title,
              value: (row) =>
                isNumeric(index - 1) ? leadingNumber(cellText(row, index - 1)) : cellText(row, index - 1),
              show: (row) => bestOrPlain(row.cells?.[index - 1]),
              csv: [{ title, value: (row) => cellText(row, index - 1) }],
            },
      ),
    }),
    (table.notes ?? []).map((note) => paragraph(note, "aside")),
  );
}

// "81.2 ± 0.4" sorts by 81.2, "−0.3" by -0.3; a gap in a column of numbers is not known.
function leadingNumber(text) {
  const number = Number.parseFloat(String(text ?? "").replace("−", "-"));
  return Number.isNaN(number) ? null : number;
}

function bestOrPlain(cell) {
  const text = cell?.text ?? kNotKnown;
  return cell?.best ? element("strong", {}, text) : text;
}
