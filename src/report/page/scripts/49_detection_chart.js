// The bars of detected classes.

function detectionFigure({ run, seed, step }, detection, entries, controls) {
  const scoreName =
    detection.rule === "scd" || !detection.rule
      ? "cumulative probability"
      : `score of rule ${detection.rule}`;
  return chartFigure({
    title: `${scoreName[0].toUpperCase()}${scoreName.slice(1)}, step ${step}`,
    description: `${scoreName} of ${plural(entries.length, "class", "classes")} at step ${step} of ${runName(run)}${ofSeed(seed)}, threshold ${significant(detection.threshold)}`,
    numbers: numbersOf(entries, {
      label: (entry) => entry.label,
      class: (entry) => className(run, entry.label),
      score: (entry) => entry.score,
      threshold: () => detection.threshold,
      cumulative_probability: (entry) => entry.cumulative_probability,
      source_share: (entry) => entry.source_share,
      detected: (entry) => entry.detected,
      present: (entry) => entry.present,
    }),
    controls,
    height: 340,
    minimumWidth: entries.length * 14 + 60,
    below: outcomeLegend([...new Set(entries.map((entry) => entry.outcome))], detection.threshold),
    config: () => detectionConfig(run, detection, entries, scoreName),
  });
}

function detectionConfig(run, detection, entries, scoreName) {
  const colours = entries.map((entry) => themeColour(kOutcomes[entry.outcome].variable));
  const signs = entries.map((entry) => kOutcomes[entry.outcome].sign);
  const marks = isKnown(detection.threshold) ? [{ axis: "y", value: detection.threshold, label: "" }] : [];
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
          backgroundColor: entries.map(({ outcome }, index) => looks[kOutcomes[outcome].look](colours[index])),
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
      // The threshold is visible even if no class comes near it.
      y: { label: scoreName, beginAtZero: true, suggestedMax: detection.threshold ?? 0, grace: "8%" },
      interaction: { mode: "index", intersect: false },
      tooltip: lines,
    }),
    plugins: [barSigns(signs, colours), lineMarks(marks)],
  };
}

function outcomeLegend(outcomes, threshold) {
  const swatch = (look, colour) =>
    element("span", { class: `swatch ${look}`, style: `--colour: var(${colour})`, "aria-hidden": "true" });
  const items = Object.keys(kOutcomes)
    .filter((name) => outcomes.includes(name))
    .map((name) => kOutcomes[name])
    .map(({ text, sign, variable, look }) => [swatch(look, variable), sign ? `${sign} ${text}` : text]);
  const line = [swatch("line", "--ink"), `threshold ${significant(threshold)}`];
  return list("outcomes", isKnown(threshold) ? [line, ...items] : items);
}
