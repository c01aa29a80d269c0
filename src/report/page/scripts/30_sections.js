// The sections of the page, in the order of their files. Those of scope "runs" show all
// runs beside each other; those of scope "run" show the chosen one, or two side by side.
//
// A section is {id, title, how, scope, when, render}: `how` says in one sentence how to read
// it, `when()` whether the page has it at all, and `render` returns its content:
// render() of scope "runs", render(view) of scope "run" (viewOf in 12_choices.js).

const sections = [];

function addSection(section) {
  sections.push(section);
}

function sectionElement({ id, title, how }, ...content) {
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title),
    how ? paragraph(how, "how") : null,
    element("div", { class: "section-body" }, ...content),
  );
}

// Content of a section, anew. Whatever has the focus keeps it, by its id.
function fillSection(section) {
  const body = document.getElementById(section.id).querySelector(".section-body");
  const focused = body.contains(document.activeElement) ? document.activeElement.id : "";
  forgetDrawings(body);
  hideTooltip();
  body.replaceChildren(...(section.scope === "run" ? runColumns(section) : [section.render()].flat()));
  if (focused) document.getElementById(focused)?.focus();
}

function runColumns(section) {
  const views = currentViews();
  const columns = views.map((view, index) =>
    element(
      "div",
      { class: "column" },
      views.length > 1 ? element("h3", { class: "run-name" }, runName(view.run)) : null,
      [section.render({ ...view, column: index })].flat(),
    ),
  );
  return [element("div", { class: views.length > 1 ? "columns" : "" }, columns)];
}

function fillRunSections() {
  for (const section of sections) if (section.scope === "run") fillSection(section);
}

// A choice that one section only reacts to.
function chooseIn(section, name, value) {
  choose(name, value);
  fillSection(sections.find((candidate) => candidate.id === section));
}

function contentsList(shown) {
  return element(
    "nav",
    { "aria-label": "Sections of this page", class: "contents" },
    element(
      "ul",
      {},
      shown.map((section) => element("li", {}, element("a", { href: `#${section.id}` }, section.title))),
    ),
  );
}
