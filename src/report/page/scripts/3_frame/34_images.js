// Small pictures: those of an image with a caption, and the strips of source and target.

// Pictures are in the document itself; other addresses are not requested.
function isPicture(src) {
  return typeof src === "string" && src.startsWith("data:image/");
}

// The picture, or the file's name where the picture is not there.
function pictureOf({ src, path }, name) {
  if (isPicture(src)) return element("img", { src, alt: path ?? name, decoding: "async" });
  return element("span", { class: "no-picture" }, baseName(path));
}

function baseName(path) {
  return shortened(
    String(path ?? kNotKnown)
      .split("/")
      .at(-1),
    14,
  );
}

// What source and target look like, of the first run that has pictures: one class per column where
// the target's classes are known.
function imageStrips() {
  const run = report.runs.find(
    ({ pictures }) => pictures?.source?.length > 0 || pictures?.target?.length > 0,
  );
  if (!run) return null;
  const { source = [], target = [] } = run.pictures;
  const rows = [
    { title: run.source ? `source: ${run.source}` : "source", images: source },
    { title: run.target ? `target: ${run.target}` : "target", images: target },
  ].filter(({ images }) => images.length > 0);
  const columns = Math.max(...rows.map(({ images }) => images.length));
  return element(
    "div",
    {
      id: "strips",
      style: `--columns: ${columns}`,
      role: "group",
      "aria-label": "Some images of source and target",
    },
    rows.map(({ title, images }) =>
      element(
        "div",
        { class: "strip" },
        element("div", { class: "strip-title" }, title),
        images.map((image) => stripImage(run, image)),
      ),
    ),
  );
}

function stripImage(run, image) {
  const known = [image.label, image.pseudo].find((label) => label >= 0);
  const name = isKnown(known) ? className(run, known) : "";
  const lines = () =>
    [
      image.path,
      image.label >= 0 && `Class: ${className(run, image.label)}`,
      image.pseudo >= 0 && `Pseudo-label: ${className(run, image.pseudo)}`,
    ].filter(Boolean);
  const caption = element("span", { class: "caption" }, image.pseudo >= 0 ? `taken for ${name}` : name);
  return explain(element("div", { class: "strip-image" }, pictureOf(image, name), caption), lines);
}
