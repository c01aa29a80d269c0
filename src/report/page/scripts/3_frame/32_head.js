// The head of the page: title, the result in short, unfinished runs, colours.

function pageHead() {
  const unfinished = report.runs.filter((run) => !isFinished(run));
  const tools = element("div", { class: "page-tools" }, themePicker(redraw));
  const byline = [
    commonTask(),
    plural(report.runs.length, "run"),
    report.created && `made ${timeText(report.created)} UTC`,
    report.version && `proca ${report.version}`,
  ];
  const noCharts = "proca was built without a chart library, so this page has tables in place of charts.";
  return [
    element("div", { class: "title-line" }, element("h1", {}, report.title ?? "Report"), tools),
    paragraph(byline.filter(Boolean).join(" · "), "byline"),
    !kHaveCharts && paragraph(noCharts, "notice"),
    headline(),
    unfinished.length > 0 && unfinishedNotice(unfinished),
    isKnown(report.refresh_s) && refreshNotice(),
  ].filter(Boolean);
}

// What the names of all runs begin with, unless the title says it.
function commonTask() {
  const task = commonName.replace(/[\s,:]+$/, "");
  return String(report.title ?? "").includes(task) ? null : task;
}

function unfinishedNotice(runs) {
  const text = `${plural(runs.length, "run has", "runs have")} not ended; the figures of such a run are those of the last step done.`;
  const lines = runs.map((run) => `${runName(run)}: ${progressText(run)}`);
  return element("div", { class: "notice", id: "unfinished" }, paragraph(text), list(null, lines));
}

// Reloads the page while a run is unfinished, until the reader pauses it.
function refreshNotice() {
  const text = element("span", { role: "status" });
  let timer = null;
  const change = () => {
    choose("paused", !choice("paused", false));
    apply();
  };
  const toggle = button("", change, { class: "small", id: "pause" });

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
