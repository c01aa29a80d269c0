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
  const content = [];
  if ((record?.confusion ?? []).length > 0) {
    const byGroup = Boolean(run.schedule) && choice("confusion-order", "group") === "group";
    const cells = confusionCells(run, record.confusion, byGroup);
    const name = `Confusion matrix, ${runName(run)}${ofSeed(seed)}, step ${step}`;
    content.push(
      element(
        "div",
        { class: "tools" },
        run.schedule
          ? labelledSelect(
              "Order",
              [
                { value: "group", text: "by step of arrival" },
                { value: "label", text: "by label" },
              ],
              byGroup ? "group" : "label",
              (value) => chooseIn("confusion", "confusion-order", value),
              { id: `confusion-order-${column}` },
            )
          : null,
        csvButton(name, () => confusionNumbers(run, record.confusion)),
      ),
      element(
        "div",
        { class: "beside" },
        confusionMatrix(cells, name),
        worstConfusions(run, record.confusion),
      ),
    );
  } else {
    content.push(
      emptyState(
        stepNumbers(seed).length === 0
          ? "No step is done yet."
          : `This run has no labels at step ${step}, so it is not known which predictions are wrong.`,
      ),
    );
  }
  return [...content, classTable(view)];
}

function confusionNumbers(run, triples) {
  return {
    columns: ["true_label", "true_class", "predicted_label", "predicted_class", "images"],
    rows: triples.map(([truth, predicted, images]) => [
      truth,
      className(run, truth),
      predicted,
      className(run, predicted),
      images,
    ]),
  };
}

// The most frequent mistakes, which are what one looks for in the matrix.
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
      {
        title: "% of the class",
        value: ([truth, , images]) => (100 * images) / total(truth),
        show: ([truth, , images]) => decimals((100 * images) / total(truth)),
      },
    ],
  });
}

function classTable({ run, seed, step, record }) {
  const rows = (record?.classes ?? []).map((entry) => ({
    ...entry,
    pseudo: record.pseudo_labels?.counts?.[entry.label],
  }));
  const counts = record?.pseudo_labels?.counts ?? [];
  if (rows.length === 0)
    rows.push(...counts.map((pseudo, label) => ({ label, pseudo })).filter((row) => row.pseudo > 0));
  if (rows.length === 0) return element("div", { hidden: true });
  const accuracy = (row) =>
    row.images > 0 && isKnown(row.correct) ? (100 * row.correct) / row.images : null;
  const columns = [
    { title: "Class", text: true, value: (row) => className(run, row.label) },
    { title: "Label", value: (row) => row.label },
    { title: "Arrives at step", value: (row) => arrivalStep(run, row.label) },
    { title: "Images", value: (row) => row.images ?? null, show: (row) => countText(row.images) },
    { title: "Right", value: (row) => row.correct ?? null, show: (row) => countText(row.correct) },
    { title: "Accuracy, %", value: accuracy, show: (row) => decimals(accuracy(row)) },
    {
      title: "Pseudo-labels at this step",
      value: (row) => row.pseudo ?? null,
      show: (row) => countText(row.pseudo),
    },
  ].filter((column) => rows.some((row) => isKnown(column.value(row))));
  return element(
    "details",
    {},
    element("summary", {}, `Each class after step ${step}`),
    dataTable({ name: `Classes, ${runName(run)}${ofSeed(seed)}, step ${step}`, columns, rows }),
  );
}
