// The options of all runs.

addSection({
  id: "configuration",
  title: "Configuration",
  how: "The options that decided each run; those in which the runs differ are marked ≠.",
  scope: "runs",
  render: configurationSection,
});

function configurationSection() {
  const rows = optionRows();
  if (rows.length === 0) return emptyState("No options were recorded for these runs.");
  const several = report.runs.length > 1;
  const place = element("div");
  const someDiffer = rows.some((row) => row.differs);
  const state = { words: "", differing: several && choice("differing", someDiffer) };

  function fill() {
    const words = state.words.toLowerCase().split(/\s+/);
    const matches = ({ key, values }) => {
      const texts = [key, ...values.filter(isKnown)].map((text) => text.toLowerCase());
      return words.every((word) => texts.some((text) => text.includes(word)));
    };
    const shown = rows.filter((row) => (!state.differing || row.differs) && matches(row));
    const among = state.differing ? " among those that differ" : "";
    const nothing = state.words
      ? `No option or value has “${state.words}” in it${among}.`
      : "The runs have the same options.";
    place.replaceChildren(shown.length > 0 ? optionTable(shown) : emptyState(nothing));
  }

  const oninput = () => {
    state.words = search.value;
    fill();
  };
  const search = element("input", { type: "search", id: "option-search", placeholder: "name or value", oninput });
  const setDiffering = (value) => {
    state.differing = value;
    choose("differing", value);
    fill();
  };
  fill();
  return [
    element(
      "div",
      { class: "tools left" },
      element("label", { class: "picker" }, element("span", {}, "Search"), search),
      several && labelledCheckbox("only where runs differ", state.differing, setDiffering, { id: "differing" }),
    ),
    place,
  ];
}

// One row per option: its values by run, null where a run does not have it.
function optionRows() {
  const byKey = new Map();
  report.runs.forEach((run, index) => {
    for (const { section, key, value } of run.options ?? []) {
      const name = section ? `${section}.${key}` : key;
      if (!byKey.has(name)) byKey.set(name, Array(report.runs.length).fill(null));
      byKey.get(name)[index] = typeof value === "string" ? value : JSON.stringify(value ?? null);
    }
  });
  return [...byKey].map(([key, values]) => ({ key, values, differs: new Set(values).size > 1 }));
}

function optionTable(rows) {
  const cell = (row, index) =>
    element("span", { class: row.values[index] === null ? "unset" : null }, row.values[index] ?? "not set");
  return dataTable({
    name: "Configuration",
    rows,
    rowClass: (row) => (row.differs ? "differs" : null),
    columns: [
      {
        title: "Option",
        text: true,
        value: (row) => row.key,
        show: (row) => element("code", {}, row.differs ? `≠ ${row.key}` : row.key),
      },
      ...report.runs.map((run, index) => ({
        title: runName(run),
        text: true,
        value: (row) => row.values[index],
        show: (row) => cell(row, index),
      })),
    ],
  });
}
