// The options of all runs: at first only those that matter.

addSection({
  id: "configuration",
  title: "Configuration",
  how: "The options that decided each run; those in which the runs differ are marked ≠.",
  scope: "runs",
  when: () => optionRows().length > 0,
  render: configurationSection,
});

function configurationSection() {
  const rows = optionRows();
  const several = report.runs.length > 1;
  const someMatter = rows.some((row) => row.matters);
  const place = element("div");
  const state = { words: "", all: choice("all-options", false) || !someMatter };

  function fill() {
    const words = state.words.toLowerCase().split(/\s+/);
    const matches = ({ key, values }) => {
      const texts = [key, ...values.filter(isKnown)].map((text) => text.toLowerCase());
      return words.every((word) => texts.some((text) => text.includes(word)));
    };
    const shown = rows.filter((row) => (state.all || state.words || row.matters) && matches(row));
    const nothing = `No option or value has “${state.words}” in it.`;
    place.replaceChildren(shown.length > 0 ? optionTable(shown) : emptyState(nothing));
  }

  const oninput = () => {
    state.words = search.value.trim();
    fill();
  };
  const search = element("input", { type: "search", id: "option-search", placeholder: "name or value", oninput });
  const setAll = (value) => {
    state.all = value;
    choose("all-options", value);
    fill();
  };
  fill();
  const others = several ? "also options that are the same" : "also options left as they were";
  return [
    element(
      "div",
      { class: "tools left" },
      element("label", { class: "picker" }, element("span", {}, "Search"), search),
      someMatter && labelledCheckbox(others, state.all, setAll, { id: "all-options" }),
    ),
    place,
  ];
}

// One row per option: its values by run, null where a run does not have it. Of several runs those
// matter that have different values in two runs that both have the option; of a single run those
// that differ from what the preset and the method would have taken, where that is known.
function optionRows() {
  const byKey = new Map();
  report.runs.forEach((run, index) => {
    for (const { section, key, value, usual } of run.options ?? []) {
      const name = section ? `${section}.${key}` : key;
      if (!byKey.has(name)) {
        byKey.set(name, { key: name, values: Array(report.runs.length).fill(null), isChosen: false });
      }
      const row = byKey.get(name);
      row.values[index] = typeof value === "string" ? value : JSON.stringify(value ?? null);
      row.isChosen ||= isKnown(usual) && usual !== value;
    }
  });
  return [...byKey.values()].map((row) => {
    const differs = new Set(row.values.filter(isKnown)).size > 1;
    return { ...row, differs, matters: differs || row.isChosen };
  });
}

function optionTable(rows) {
  const cell = (row, index) =>
    element("span", { class: row.values[index] === null ? "unset" : null }, row.values[index] ?? "does not apply");
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
        show: (row) => cell(row, index),
      })),
    ],
  });
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
