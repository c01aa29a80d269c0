// What Chart.js lacks: error bars, lines across a chart, signs above bars.

// A plugin of Chart.js that draws on top of a chart.
function overlay(id, draw) {
  return {
    id,
    afterDatasetsDraw(chart) {
      chart.ctx.save();
      draw(chart, chart.ctx);
      chart.ctx.restore();
    },
  };
}

function drawLine(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

// Mean ± deviation at each point; datasets carry `deviations`.
const errorBars = overlay("errorBars", (chart, ctx) => {
  ctx.globalAlpha = 0.7;
  chart.data.datasets.forEach((dataset, index) => {
    if (!dataset.deviations || !chart.isDatasetVisible(index)) return;
    ctx.strokeStyle = dataset.borderColor;
    chart.getDatasetMeta(index).data.forEach(({ x }, i) => {
      const deviation = dataset.deviations[i];
      if (!deviation) return;
      const value = dataset.data[i].y;
      const [low, high] = [value - deviation, value + deviation].map((y) => chart.scales.y.getPixelForValue(y));
      drawLine(ctx, x, low, x, high);
      for (const y of [low, high]) drawLine(ctx, x - 3, y, x + 3, y);
    });
  });
});

// Dashed lines with a label each: {axis: "x" or "y", value, label}.
function lineMarks(marks) {
  return overlay("lineMarks", ({ chartArea, scales }, ctx) => {
    ctx.strokeStyle = ctx.fillStyle = themeColour("--ink");
    ctx.font = `12px ${Chart.defaults.font.family}`;
    ctx.setLineDash([4, 3]);
    for (const { axis, value, label } of marks) {
      const at = scales[axis].getPixelForValue(value);
      if (axis === "x") {
        drawLine(ctx, at, chartArea.top, at, chartArea.bottom);
        ctx.fillText(label, at + 3, chartArea.top + 11);
      } else {
        drawLine(ctx, chartArea.left, at, chartArea.right, at);
        ctx.textAlign = "right";
        ctx.fillText(label, chartArea.right - 3, at - 5);
      }
    }
  });
}

// A sign above each bar, so that colour is not all that tells them apart.
function barSigns(signs, colours) {
  return overlay("barSigns", (chart, ctx) => {
    ctx.textAlign = "center";
    ctx.font = `bold 12px ${Chart.defaults.font.family}`;
    chart.getDatasetMeta(0).data.forEach((bar, index) => {
      ctx.fillStyle = colours[index];
      ctx.fillText(signs[index], bar.x, bar.y - 4);
    });
  });
}

// Stripes of a colour on a paler background of the same.
function stripes(colour) {
  const tile = element("canvas", { width: 8, height: 8 });
  const ctx = tile.getContext("2d");
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.25;
  ctx.fillRect(0, 0, 8, 8);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2.5;
  for (const shift of [-8, 0, 8]) drawLine(ctx, shift, 8, shift + 8, 0);
  return ctx.createPattern(tile, "repeat");
}
