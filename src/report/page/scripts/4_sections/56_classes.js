// Every class after a step: how it is recognised, and how many images were labelled with it.

addSection({
  id: "classes",
  title: "Each class",
  short: "Classes",
  how: "Images of each class and how many are recognised, where labels are known, and the images that the step took for it.",
  scope: "run",
  has: ({ seed }) => (seed?.steps ?? []).some((record) => record.classes || record.pseudo_labels?.counts),
  render: (view) => classTable(view) ?? emptyState(`Step ${view.step} has no figures of single classes.`),
});

function classTable(view) {
  const { run, step, record } = view;
  const counts = record?.pseudo_labels?.counts ?? [];
  let rows = (record?.classes ?? []).map((entry) => ({ ...entry, pseudo: counts[entry.label] }));
  if (rows.length === 0)
    rows = counts.map((pseudo, label) => ({ label, pseudo })).filter((row) => row.pseudo > 0);
  if (rows.length === 0) return null;
  const accuracy = (row) =>
    row.images > 0 && isKnown(row.correct) ? (100 * row.correct) / row.images : null;
  const columns = [
    {
      title: "Class",
      text: true,
      value: (row) => className(run, row.label),
      show: (row) => classLink(view, row),
    },
    { title: "Label", value: (row) => row.label },
    { title: "Arrives at step", value: (row) => arrivalStep(run, row.label) },
    formatted("Images", (row) => row.images, countText),
    formatted("Right", (row) => row.correct, countText),
    formatted("Accuracy, %", accuracy, decimals),
    formatted("Pseudo-labels at this step", (row) => row.pseudo, countText),
  ];
  const table = dataTable({ name: titleOf("Classes", view), columns: knownColumns(columns, rows), rows });
  if (rows.length <= kMostClassesOpen) return table;
  return element("details", {}, element("summary", {}, `Each class after step ${step}`), table);
}

// A longer table opens on demand.
const kMostClassesOpen = 12;

// Leads to the images of the class that are taken for others.
function classLink({ run, record }, { label }) {
  const hasImages = (record?.mistakes ?? []).some((entry) => entry.label === label);
  if (!hasImages) return className(run, label);
  const show = () => {
    showMistakes({ label });
    document.getElementById("confusion").querySelector(".mistakes")?.scrollIntoView({ block: "center" });
  };
  return button(className(run, label), show, {
    class: "link",
    title: "Show its images that are taken for others",
  });
}
