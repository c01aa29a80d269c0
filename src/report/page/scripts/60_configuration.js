// The options of all runs.

addSection({
  id: "configuration",
  title: "Configuration",
  how: "The options that decided each run; those in which the runs differ are marked ≠.",
  scope: "runs",
  when: () => report.runs.length > 0,
  render: configurationSection,
});

function configurationSection() {
  const rows = optionRows();
  if (rows.length === 0) return [emptyState("No options were recorded for these runs.")];
  const several = report.runs.length > 1;
  const place = element("div");
  const state = {
    words: "",
    differing:
      several &&
      choice(
        "differing",
        rows.some((row) => row.differs),
      ),
  };

  function fill() {
    const words = state.words
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const matches = (row) =>
      words.every((word) =>
        [row.key, ...row.values.map((value) => value ?? "")].some((text) =>
          text.toLowerCase().includes(word),
        ),
      );
    const shown = rows.filter((row) => (!state.differing || row.differs) && matches(row));
    place.replaceChildren(
      shown.length > 0
        ? optionTable(shown)
        : emptyState(
            state.words
              ? `No option or value has “${state.words}” in it${state.differing ? " among those that differ" : ""}.`
              : "The runs have the same options.",
          ),
    );
  }

  const search = element("input", {
    type: "search",
    id: "option-search",
    placeholder: "name or value",
    oninput: () => {
      state.words = search.value;
      fill();
    },
  });
  fill();
  return [
    element(
      "div",
      { class: "tools left" },
      element("label", { class: "picker" }, element("span", {}, "Search"), search),
      several
        ? labelledCheckbox(
            "only where runs differ",
            state.differing,
            (value) => {
              state.differing = value;
              choose("differing", value);
              fill();
            },
            { id: "differing" },
          )
        : null,
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
      if (!byKey.has(name))
        byKey.set(
          name,
          report.runs.map(() => null),
        );
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
