// The head of the page: title, what it holds, what is still going on, colours.

function pageHead() {
  const unfinished = report.runs.filter((run) => !isFinished(run));
  return [
    element(
      "div",
      { class: "title-line" },
      element("h1", {}, report.title ?? "Report"),
      element(
        "div",
        { class: "page-tools" },
        themePicker(() => redraw()),
      ),
    ),
    paragraph(
      [
        plural(report.runs.length, "run"),
        report.created ? `made ${timeText(report.created)} UTC` : null,
        report.version ? `proca ${report.version}` : null,
      ]
        .filter(isKnown)
        .join(" · "),
      "byline",
    ),
    ...(kHaveCharts
      ? []
      : [
          paragraph(
            "proca was built without a chart library, so this page has tables in place of charts.",
            "notice",
          ),
        ]),
    ...(unfinished.length > 0 ? [unfinishedNotice(unfinished)] : []),
    ...(isKnown(report.refresh_s) ? [refreshNotice()] : []),
  ];
}

function unfinishedNotice(runs) {
  const lines = runs.map((run) => element("li", {}, `${runName(run)}: ${progressText(run)}`));
  return element(
    "div",
    { class: "notice", id: "unfinished" },
    paragraph(
      `${plural(runs.length, "run has", "runs have")} not ended; the figures of such a run are those of the last step done.`,
    ),
    element("ul", {}, lines),
  );
}

// Reloads while a run goes on, unless the reader has stopped it.
function refreshNotice() {
  const text = element("span", { role: "status" });
  let timer = null;
  const toggle = button(
    "",
    () => {
      choose("paused", !choice("paused", false));
      apply();
    },
    { class: "small", id: "pause" },
  );

  function apply() {
    const paused = choice("paused", false);
    clearTimeout(timer);
    if (!paused) timer = setTimeout(() => location.reload(), report.refresh_s * 1000);
    text.textContent = paused
      ? "This page stands still."
      : `This page renews itself every ${report.refresh_s} s.`;
    toggle.textContent = paused ? "Renew" : "Pause";
  }

  apply();
  return element("p", { class: "notice", id: "refresh" }, text, " ", toggle);
}
