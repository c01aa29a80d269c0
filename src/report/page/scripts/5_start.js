// Puts the page together.

function buildPage() {
  applyTheme(choice("theme", "auto"));
  document.documentElement.classList.toggle("no-charts", !kHaveCharts);
  const main = document.getElementById("content");
  document.getElementById("reading").remove();
  if (report.format_version !== kFormatVersion) {
    const text = `This page reads report data of version ${kFormatVersion}, and its data has version ${report.format_version ?? "unknown"}: make the page again with the proca that wrote the data.`;
    main.append(paragraph(text, "notice"));
    return;
  }
  const shown = sections.filter((section) => (section.when ? section.when() : report.runs.length > 0));
  document.getElementById("page-head").append(...pageHead());
  fillNavigation(shown);
  if (shown.length === 0) main.append(emptyState("This report has no runs and no tables."));

  // The sections of one run stand together, under the bar that chooses it.
  const details = element("div", { id: "details" });
  for (const section of shown) {
    if (section.scope === "run" && !details.isConnected) main.append(details);
    if (section.scope === "run" && details.childElementCount === 0) {
      // Paper has no pickers, but has to show their choice.
      details.append(pickerBar(), element("p", { class: "paper-only", id: "shown-run" }));
      fillPickerBar(details.firstElementChild);
    }
    (section.scope === "run" ? details : main).append(sectionElement(section));
    fillSection(section);
  }
  const foot = `Made by proca ${report.version ?? ""}. The page is one file that fetches nothing; its data is in it, described in docs/formats/report_data.md.`;
  document.getElementById("page-foot").append(paragraph(foot));
  markCurrentSection();
  watchPrint();
  watchWidth();
  keepScrollPosition();
}

// The confusion matrix is as large as its box; charts follow by themselves.
function watchWidth() {
  let width = window.innerWidth;
  let timer = null;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return; // Phones report a resize when their bars come and go.
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => redraw(), 150);
  });
}

buildPage();
