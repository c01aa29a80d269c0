// Tables that sort by any column and download as CSV.
//
// A column is {title, value(row), show(row), best, csv, text}:
//   value  what is sorted by and downloaded: a number, a text, or null
//   show   what is seen, text or node; otherwise the value itself
//   best   "high" or "low": the best of each `group` of `comparable` rows is bold
//   csv    [{title, value(row)}] instead of value, where a cell holds several numbers
//   text   true: aligned to the left

// Longer texts are broken into lines.
const kLongText = 28;

function dataTable({
  name,
  title,
  columns,
  rows,
  group,
  comparable = () => true,
  rowClass,
  download = true,
}) {
  const body = element("tbody");
  const heads = columns.map((column, index) => headCell(column, () => sortBy(index)));
  const best = columns.map((column) => bestValues(column, rows.filter(comparable), group));
  let sorted = null; // {index, descending}

  function fill(ordered) {
    body.replaceChildren(
      ...ordered.map((row) =>
        element(
          "tr",
          { class: rowClass?.(row) },
          columns.map((column, index) => bodyCell(column, row, comparable(row) && best[index], group, index)),
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
  const table = element(
    "table",
    { class: "sortable" },
    element("caption", { class: "hidden" }, name),
    element("thead", {}, element("tr", {}, heads)),
    body,
  );
  return element(
    "div",
    { class: "table" },
    title || download
      ? element(
          "div",
          { class: "tools" },
          title ? element("h3", {}, title) : null,
          download ? csvButton(name, () => tableContent(columns, rows)) : null,
        )
      : null,
    scrollBox(`Table: ${name}`, table),
  );
}

function headCell(column, sort) {
  return element(
    "th",
    { scope: "col", class: column.text ? "text" : null, "aria-sort": "none" },
    button(column.title, sort),
  );
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

// What is not known comes last, whichever way it is sorted.
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
