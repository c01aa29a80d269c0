// What Chart.js lacks: error bars, lines across a chart, signs above bars.

// Mean ± deviation at each point; datasets carry `deviations`.
const errorBars = {
  id: "errorBars",
  afterDatasetsDraw(chart) {
    const { ctx, scales } = chart;
    chart.data.datasets.forEach((dataset, index) => {
      if (!dataset.deviations || !chart.isDatasetVisible(index)) return;
      ctx.save();
      ctx.strokeStyle = dataset.borderColor;
      ctx.globalAlpha = 0.7;
      chart.getDatasetMeta(index).data.forEach((point, i) => {
        const deviation = dataset.deviations[i];
        if (!deviation) return;
        const value = dataset.data[i].y;
        const [low, high] = [value - deviation, value + deviation].map((y) => scales.y.getPixelForValue(y));
        ctx.beginPath();
        ctx.moveTo(point.x, low);
        ctx.lineTo(point.x, high);
        for (const y of [low, high]) {
          ctx.moveTo(point.x - 3, y);
          ctx.lineTo(point.x + 3, y);
        }
        ctx.stroke();
      });
      ctx.restore();
    });
  },
};

// Dashed lines with a word each: {axis: "x" or "y", value, label}.
function lineMarks(marks) {
  return {
    id: "lineMarks",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea, scales } = chart;
      ctx.save();
      ctx.strokeStyle = themeColour("--ink");
      ctx.fillStyle = themeColour("--ink");
      ctx.font = `12px ${Chart.defaults.font.family}`;
      ctx.setLineDash([4, 3]);
      for (const mark of marks) {
        const at = scales[mark.axis].getPixelForValue(mark.value);
        ctx.beginPath();
        if (mark.axis === "x") {
          ctx.moveTo(at, chartArea.top);
          ctx.lineTo(at, chartArea.bottom);
          ctx.fillText(mark.label, at + 3, chartArea.top + 11);
        } else {
          ctx.moveTo(chartArea.left, at);
          ctx.lineTo(chartArea.right, at);
          ctx.textAlign = "right";
          ctx.fillText(mark.label, chartArea.right - 3, at - 5);
        }
        ctx.stroke();
      }
      ctx.restore();
    },
  };
}

// A sign above each bar, so that colour is not all there is to tell them apart.
function barSigns(signs, colours) {
  return {
    id: "barSigns",
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      ctx.save();
      ctx.textAlign = "center";
      ctx.font = `bold 12px ${Chart.defaults.font.family}`;
      chart.getDatasetMeta(0).data.forEach((bar, index) => {
        ctx.fillStyle = colours[index];
        ctx.fillText(signs[index], bar.x, bar.y - 4);
      });
      ctx.restore();
    },
  };
}

// Stripes of a colour on a paler ground of the same.
function stripes(colour) {
  const tile = element("canvas", { width: 8, height: 8 });
  const ctx = tile.getContext("2d");
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.25;
  ctx.fillRect(0, 0, 8, 8);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2.5;
  for (const shift of [-8, 0, 8]) {
    ctx.beginPath();
    ctx.moveTo(shift, 8);
    ctx.lineTo(shift + 8, 0);
    ctx.stroke();
  }
  return ctx.createPattern(tile, "repeat");
}
