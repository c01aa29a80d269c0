// The bars of detected classes.

function detectionFigure(run, seed, step, detection, entries, controls) {
  const scoreName =
    detection.rule === "scd" || !detection.rule
      ? "cumulative probability"
      : `score of rule ${detection.rule}`;
  return chartFigure({
    title: `${scoreName[0].toUpperCase()}${scoreName.slice(1)}, step ${step}`,
    description: `${scoreName} of ${plural(entries.length, "class", "classes")} at step ${step} of ${runName(run)}${ofSeed(seed)}, threshold ${significant(detection.threshold)}`,
    numbers: {
      columns: [
        "label",
        "class",
        "score",
        "threshold",
        "cumulative_probability",
        "source_share",
        "detected",
        "present",
      ],
      rows: entries.map((entry) => [
        entry.label,
        className(run, entry.label),
        entry.score,
        detection.threshold,
        entry.cumulative_probability,
        entry.source_share,
        entry.detected,
        entry.present,
      ]),
    },
    controls,
    height: 340,
    minimumWidth: entries.length * 14 + 60,
    below: outcomeLegend([...new Set(entries.map((entry) => entry.outcome))], detection.threshold),
    config: () => detectionConfig(run, detection, entries, scoreName),
  });
}

function detectionConfig(run, detection, entries, scoreName) {
  const colours = entries.map((entry) => themeColour(kOutcomes[entry.outcome].variable));
  const looks = { solid: (colour) => colour, striped: stripes, hollow: () => "transparent" };
  const lines = (item) => {
    const entry = entries[item.dataIndex];
    return [
      className(run, entry.label),
      `${scoreName} ${significant(entry.score, 4)}, threshold ${significant(detection.threshold, 4)}`,
      kOutcomes[entry.outcome].text,
    ];
  };
  return {
    type: "bar",
    data: {
      labels: entries.map((entry) => className(run, entry.label)),
      datasets: [
        {
          data: entries.map((entry) => entry.score),
          backgroundColor: entries.map((entry, index) =>
            looks[kOutcomes[entry.outcome].look](colours[index]),
          ),
          borderColor: colours,
          borderWidth: 1.5,
          minBarLength: 2,
          categoryPercentage: 0.9,
          barPercentage: 0.85,
        },
      ],
    },
    options: chartOptions({
      x: {
        grid: { display: false },
        ticks: {
          autoSkip: false,
          maxRotation: 90,
          minRotation: entries.length > 12 ? 90 : 0,
          font: { size: entries.length > 40 ? 10 : 12 },
          callback: (_, index) => shortened(className(run, entries[index].label)),
        },
      },
      // The threshold is seen also where no class comes near it.
      y: { label: scoreName, beginAtZero: true, suggestedMax: detection.threshold ?? 0, grace: "8%" },
      interaction: { mode: "index", intersect: false },
      plugins: { tooltip: tooltipOf(lines) },
    }),
    plugins: [
      barSigns(
        entries.map((entry) => kOutcomes[entry.outcome].sign),
        colours,
      ),
      lineMarks(isKnown(detection.threshold) ? [{ axis: "y", value: detection.threshold, label: "" }] : []),
    ],
  };
}

function outcomeLegend(outcomes, threshold) {
  const line = isKnown(threshold)
    ? element(
        "li",
        {},
        element("span", { class: "swatch line", style: "--colour: var(--ink)", "aria-hidden": "true" }),
        `threshold ${significant(threshold)}`,
      )
    : null;
  return element(
    "ul",
    { class: "outcomes" },
    line,
    Object.keys(kOutcomes)
      .filter((name) => outcomes.includes(name))
      .map((name) => {
        const { text, sign, variable, look } = kOutcomes[name];
        return element(
          "li",
          {},
          element("span", {
            class: `swatch ${look}`,
            style: `--colour: var(${variable})`,
            "aria-hidden": "true",
          }),
          sign ? `${sign} ${text}` : text,
        );
      }),
  );
}
