// The sections of the page, in the order of their files. Those of scope "runs" show all runs beside
// each other; those of scope "run" show the chosen one, or two side by side.
//
// A section is {id, title, short, how, scope, when, has, render}: `short` is its title in the list
// of sections, `how` explains it in one sentence, `when()` tells whether the page has it (default:
// if there are runs), and `render` returns its content: render() of scope "runs", render(view) of
// scope "run" (viewOf in 12_choices.js). `has(view)` of scope "run" tells whether the run has
// anything to show at any step: the section is left out where no run that is shown has.

const sections = [];

function addSection(section) {
  sections.push(section);
}

function sectionElement({ id, title, how }, ...content) {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title),
    how && paragraph(how, "how"),
    element("div", { class: "section-body" }, ...content),
  );
}

// Renders a section again. The element with the focus keeps it, by its id.
function fillSection(section) {
  const body = document.getElementById(section.id).querySelector(".section-body");
  const focused = body.contains(document.activeElement) ? document.activeElement.id : "";
  forgetDrawings(body);
  hideTooltip();
  const hasContent = section.scope !== "run" || currentViews().some((view) => hasData(section, view));
  showSection(section.id, hasContent);
  const content = !hasContent
    ? []
    : section.scope === "run"
      ? runColumns(section)
      : [section.render()].flat();
  body.replaceChildren(...content.filter(isKnown));
  if (focused) document.getElementById(focused)?.focus();
}

function hasData(section, view) {
  return section.has?.(view) ?? true;
}

function showSection(id, isShown) {
  document.getElementById(id).hidden = !isShown;
  document.getElementById(`to-${id}`)?.toggleAttribute("hidden", !isShown);
}

function runColumns(section) {
  const views = currentViews();
  const several = views.length > 1;
  const columns = views.map((view, index) => {
    const name = several && element("h3", { class: "run-name" }, runName(view.run));
    const content = hasData(section, view)
      ? section.render({ ...view, column: index })
      : emptyState("This run has nothing of this.");
    return element("div", { class: "column" }, name, [content].flat());
  });
  return [element("div", { class: several ? "columns" : "" }, columns)];
}

function fillRunSections() {
  for (const section of sections) if (section.scope === "run") fillSection(section);
}

// Makes a choice that concerns one section only.
function chooseIn(section, name, value) {
  choose(name, value);
  fillSection(sections.find((candidate) => candidate.id === section));
}
