// Tables that sort by any column and download as CSV.
//
// A column is {title, value(row), show(row), best, csv, text}:
//   value  for sorting and download: a number, a text, null or undefined
//   show   text or node to display; otherwise the value itself
//   best   "high" or "low": the best of each `group` of `comparable` rows is bold
//   judged(row)  false: this row is not compared in this column
//   csv    [{title, value(row)}] instead of value, where a cell holds several numbers
//   text   true: aligned to the left

// Longer texts are broken into lines.
const kLongText = 28;

function dataTable(options) {
  const { name, title, columns, rows, group, rowClass, comparable = () => true, download = true } = options;
  const body = element("tbody");
  const isCompared = (column, row) => comparable(row) && (column.judged?.(row) ?? true);
  const heads = columns.map((column, index) => headCell(column, () => sortBy(index)));
  const best = columns.map((column) =>
    bestValues(
      column,
      rows.filter((row) => isCompared(column, row)),
      group,
    ),
  );
  let sorted = null; // {index, descending}

  function fill(ordered) {
    body.replaceChildren(
      ...ordered.map((row) =>
        element(
          "tr",
          { class: rowClass?.(row) },
          columns.map((column, index) =>
            bodyCell(column, row, isCompared(column, row) && best[index], group, index),
          ),
        ),
      ),
    );
  }

  function sortBy(index) {
    // Numbers first come with the largest on top, text from A.
    const descending = sorted?.index === index ? !sorted.descending : !columns[index].text;
    sorted = { index, descending };
    heads.forEach((head, i) =>
      head.setAttribute("aria-sort", i !== index ? "none" : descending ? "descending" : "ascending"),
    );
    fill(sortedRows(rows, columns[index].value, descending));
  }

  fill(rows);
  const tools = [
    title && element("h3", {}, title),
    download && csvButton(name, () => tableContent(columns, rows)),
  ];
  return tableBox(name, "sortable", heads, body, tools);
}

// A table with `tools` above it.
function tableBox(name, kind, heads, body, tools) {
  const table = element(
    "table",
    { class: kind },
    element("caption", { class: "hidden" }, name),
    element("thead", {}, element("tr", {}, heads)),
    body,
  );
  const used = tools.some(Boolean) && element("div", { class: "tools" }, tools);
  return element("div", { class: "table" }, used, scrollBox(`Table: ${name}`, table));
}

// A column whose values are shown by `format`, such as countText.
function formatted(title, value, format) {
  return { title, value, show: (row) => format(value(row)) };
}

// Without the columns that no row has a value in.
function knownColumns(columns, rows) {
  return columns.filter((column) => rows.some((row) => isKnown(column.value(row))));
}

// {columns, rows} for a CSV: `fields` are functions of an item and its index, by title.
function numbersOf(items, fields) {
  const values = Object.values(fields);
  return {
    columns: Object.keys(fields),
    rows: items.map((item, index) => values.map((value) => value(item, index))),
  };
}

function headCell(column, sort) {
  const attributes = { scope: "col", class: column.text ? "text" : null, "aria-sort": "none" };
  return element("th", attributes, button(column.title, sort));
}

function bodyCell(column, row, best, group, index) {
  const value = column.value(row);
  const shown = column.show ? column.show(row) : isKnown(value) ? String(value) : kNotKnown;
  const isBest = best && isKnown(value) && best.get(group ? group(row) : "") === value;
  const content = isBest ? element("strong", {}, shown) : shown;
  const kind = !column.text ? null : String(value ?? "").length > kLongText ? "text long" : "text";
  return index === 0
    ? element("th", { scope: "row", class: kind }, content)
    : element("td", { class: kind }, content);
}

// By group, the best value of a column; a row alone in its group is no better than another.
function bestValues(column, rows, group) {
  if (!column.best) return null;
  const values = new Map();
  for (const row of rows) {
    const key = group ? group(row) : "";
    const value = column.value(row);
    if (isKnown(value)) values.set(key, [...(values.get(key) ?? []), value]);
  }
  const choose_ = column.best === "low" ? Math.min : Math.max;
  return new Map([...values].filter(([, all]) => all.length > 1).map(([key, all]) => [key, choose_(...all)]));
}

// Unknown values come last in both directions.
function sortedRows(rows, value, descending) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (!isKnown(x) || !isKnown(y)) return Number(!isKnown(x)) - Number(!isKnown(y));
    return (
      sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true }))
    );
  });
}

function tableContent(columns, rows) {
  const flat = columns.flatMap((column) => column.csv ?? [{ title: column.title, value: column.value }]);
  return {
    columns: flat.map((column) => column.title),
    rows: rows.map((row) => flat.map((column) => column.value(row))),
  };
}
