// Downloads, made in the browser: RFC 4180, UTF-8, numbers in full precision.

function csvField(value) {
  if (!isKnown(value)) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(columns, rows) {
  return [columns, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function fileName(words) {
  return words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

// `table` is a function, called when the button is pressed: {columns, rows}.
function csvButton(name, table) {
  return button(
    "CSV",
    () => {
      const { columns, rows } = table();
      const url = URL.createObjectURL(new Blob([csvText(columns, rows)], { type: "text/csv" }));
      element("a", { href: url, download: `${fileName(name)}.csv` }).click();
      // Some browsers read it only after the click has been handled.
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    },
    { class: "small", "aria-label": `Download as CSV: ${name}` },
  );
}
