// The options of all runs: at first only those that matter.

addSection({
  id: "configuration",
  title: "Configuration",
  how: "The options that decided each run, at first only those that matter; those in which the runs differ are marked ≠.",
  scope: "runs",
  when: () => optionRows().length > 0,
  render: configurationSection,
});

function configurationSection() {
  const rows = optionRows();
  const several = report.runs.length > 1;
  const place = element("div");
  const state = { words: "", all: choice("all-options", false) };

  function fill() {
    const words = state.words.toLowerCase().split(/\s+/);
    const matches = ({ key, values }) => {
      const texts = [key, ...values.filter(isKnown)].map((text) => text.toLowerCase());
      return words.every((word) => texts.some((text) => text.includes(word)));
    };
    const shown = rows.filter((row) => (state.all || state.words || row.matters) && matches(row));
    const nothing = state.words
      ? `No option or value has “${state.words}” in it.`
      : several
        ? "The runs have the same options."
        : "All options are those of the preset and the method.";
    place.replaceChildren(shown.length > 0 ? optionTable(shown) : emptyState(nothing));
  }

  const oninput = () => {
    state.words = search.value.trim();
    fill();
  };
  const search = element("input", {
    type: "search",
    id: "option-search",
    placeholder: "name or value",
    oninput,
  });
  const setAll = (value) => {
    state.all = value;
    choose("all-options", value);
    fill();
  };
  fill();
  const others = several ? "also options that are the same" : "also options that were left as they are";
  return [
    element(
      "div",
      { class: "tools left" },
      element("label", { class: "picker" }, element("span", {}, "Search"), search),
      labelledCheckbox(others, state.all, setAll, { id: "all-options" }),
    ),
    place,
  ];
}

// One row per option: its values by run, null where a run does not have it. An option matters
// where two runs that have it differ, or where a run does not take what its preset and method
// would have taken. Of a single run of which that is not known those matter that were decided.
function optionRows() {
  const byKey = new Map();
  report.runs.forEach((run, index) => {
    for (const { section, key, value, usual } of run.options ?? []) {
      const name = section ? `${section}.${key}` : key;
      if (!byKey.has(name)) {
        byKey.set(name, { key: name, values: Array(report.runs.length).fill(null), usual: [] });
      }
      const row = byKey.get(name);
      row.values[index] = typeof value === "string" ? value : JSON.stringify(value ?? null);
      row.usual[index] = usual;
    }
  });
  const rows = [...byKey.values()];
  const knowsUsual = rows.some((row) => row.usual.some(isKnown));
  return rows.map((row) => {
    const differs = new Set(row.values.filter(isKnown)).size > 1;
    const isChosen = row.values.some((_, index) => isUnusual(row, index));
    const isDecided = report.runs.length === 1 && !knowsUsual && !["", "auto"].includes(row.values[0]);
    return { ...row, differs, matters: differs || isChosen || isDecided };
  });
}

function isUnusual(row, index) {
  return isKnown(row.usual[index]) && row.usual[index] !== row.values[index];
}

function optionTable(rows) {
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
      ...optionColumns(rows).map(({ title, index }) => ({
        title,
        text: true,
        value: (row) => row.values[index],
        show: (row) => optionCell(row, index),
      })),
    ],
  });
}

function optionCell(row, index) {
  const value = row.values[index];
  if (value === null) return element("span", { class: "unset" }, "does not apply");
  const text = value === "" ? element("span", { class: "unset" }, "none") : value;
  const usual = isUnusual(row, index) && element("span", { class: "aside" }, ` usually ${row.usual[index]}`);
  return element("span", {}, text, usual);
}

// Runs with the same values in all these rows share a column.
function optionColumns(rows) {
  const columns = new Map();
  report.runs.forEach((run, index) => {
    const key = JSON.stringify(rows.map((row) => row.values[index]));
    if (!columns.has(key)) columns.set(key, { index, runs: [] });
    columns.get(key).runs.push(runName(run));
  });
  return [...columns.values()].map(({ index, runs }) => ({ index, title: runs.join(", ") }));
}
