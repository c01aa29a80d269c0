// True against predicted classes, and the accuracy on each class.

addSection({
  id: "confusion",
  title: "Classes and confusions",
  how: "Each cell counts images of the row's class that are predicted as the column's, the colour stronger for a larger share of the row; of a good model only the diagonal is strong. Point at a cell, or move through the matrix with the arrow keys.",
  scope: "run",
  render: confusionSection,
});

function confusionSection(view) {
  const { run, seed, step, record, column } = view;
  if ((record?.confusion ?? []).length === 0) {
    const noLabels = `This run has no labels at step ${step}, so it is not known which predictions are wrong.`;
    const noStep = stepNumbers(seed).length === 0;
    return [emptyState(noStep ? "No step is done yet." : noLabels), classTable(view)];
  }
  const byGroup = Boolean(run.schedule) && choice("confusion-order", "group") === "group";
  const name = titleOf("Confusion matrix", view);
  const orders = [
    { value: "group", text: "by step of arrival" },
    { value: "label", text: "by label" },
  ];
  const chooseOrder = (value) => chooseIn("confusion", "confusion-order", value);
  const picker =
    run.schedule &&
    labelledSelect("Order", orders, byGroup ? "group" : "label", chooseOrder, { id: `confusion-order-${column}` });
  const csv = csvButton(name, () => confusionNumbers(run, record.confusion));
  const matrix = confusionMatrix(confusionCells(run, record.confusion, byGroup), name);
  return [
    element("div", { class: "tools" }, picker, csv),
    element("div", { class: "beside" }, matrix, worstConfusions(run, record.confusion)),
    classTable(view),
  ];
}

function confusionNumbers(run, triples) {
  return numbersOf(triples, {
    true_label: ([truth]) => truth,
    true_class: ([truth]) => className(run, truth),
    predicted_label: ([, predicted]) => predicted,
    predicted_class: ([, predicted]) => className(run, predicted),
    images: ([, , images]) => images,
  });
}

// The most frequent mistakes, which readers look for in the matrix.
function worstConfusions(run, triples) {
  const wrong = sortedRows(
    triples.filter(([truth, predicted]) => truth !== predicted),
    ([, , images]) => images,
    true,
  ).slice(0, 10);
  if (wrong.length === 0) return paragraph("Every image is predicted right.", "finding");
  const total = (label) =>
    triples.reduce((sum, [truth, , images]) => sum + (truth === label ? images : 0), 0);
  return dataTable({
    title: "Most frequent mistakes",
    name: "Most frequent mistakes",
    rows: wrong,
    download: false,
    columns: [
      { title: "True class", text: true, value: ([truth]) => className(run, truth) },
      { title: "Predicted as", text: true, value: ([, predicted]) => className(run, predicted) },
      { title: "Images", value: ([, , images]) => images },
      formatted("% of the class", ([truth, , images]) => (100 * images) / total(truth), decimals),
    ],
  });
}

function classTable(view) {
  const { run, step, record } = view;
  const counts = record?.pseudo_labels?.counts ?? [];
  let rows = (record?.classes ?? []).map((entry) => ({ ...entry, pseudo: counts[entry.label] }));
  if (rows.length === 0) rows = counts.map((pseudo, label) => ({ label, pseudo })).filter((row) => row.pseudo > 0);
  if (rows.length === 0) return [];
  const accuracy = (row) =>
    row.images > 0 && isKnown(row.correct) ? (100 * row.correct) / row.images : null;
  const columns = [
    { title: "Class", text: true, value: (row) => className(run, row.label) },
    { title: "Label", value: (row) => row.label },
    { title: "Arrives at step", value: (row) => arrivalStep(run, row.label) },
    formatted("Images", (row) => row.images, countText),
    formatted("Right", (row) => row.correct, countText),
    formatted("Accuracy, %", accuracy, decimals),
    formatted("Pseudo-labels at this step", (row) => row.pseudo, countText),
  ];
  const name = titleOf("Classes", view);
  return element(
    "details",
    {},
    element("summary", {}, `Each class after step ${step}`),
    dataTable({ name, columns: knownColumns(columns, rows), rows }),
  );
}
