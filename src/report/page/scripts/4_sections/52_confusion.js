// True against predicted classes, and the images behind the mistakes.

addSection({
  id: "confusion",
  title: "Mistakes",
  how: "Each cell counts images of the row's class that are predicted as the column's, the colour stronger for a larger share of the row; of a good model only the diagonal is strong. Point at a cell, or move through the matrix with the arrow keys; a click or Enter shows its images.",
  scope: "run",
  has: ({ seed }) => (seed?.steps ?? []).some((record) => record.confusion?.length > 0),
  render: confusionSection,
});

function confusionSection(view) {
  const { run, step, record, column } = view;
  if ((record?.confusion ?? []).length === 0) {
    return emptyState(`Step ${step} was not measured, so it is not known which predictions are wrong.`);
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
    labelledSelect("Order", orders, byGroup ? "group" : "label", chooseOrder, {
      id: `confusion-order-${column}`,
    });
  const csv = csvButton(name, () => confusionNumbers(run, record.confusion));
  const images = mistakeImages(view);
  const matrix = confusionMatrix(confusionCells(run, record.confusion, byGroup), name, images.show);
  return [
    element("div", { class: "tools" }, picker, csv),
    element("div", { class: "beside" }, matrix, worstConfusions(run, record.confusion, images.show)),
    images.box,
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
function worstConfusions(run, triples, show) {
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
      {
        title: "True class",
        text: true,
        value: ([truth]) => className(run, truth),
        show: ([truth, predicted]) =>
          button(className(run, truth), () => show({ label: truth, predicted }), {
            class: "link",
            title: "Show these images",
          }),
      },
      { title: "Predicted as", text: true, value: ([, predicted]) => className(run, predicted) },
      { title: "Images", value: ([, , images]) => images },
      formatted("% of the class", ([truth, , images]) => (100 * images) / total(truth), decimals),
    ],
  });
}
