// What Chart.js lacks: error bars, lines across a chart, names at clusters of points.

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
      const { min, max } = chart.scales.y;
      const ends = [value - deviation, value + deviation];
      const inside = (y) => Math.min(max, Math.max(min, y));
      const pixel = (y) => chart.scales.y.getPixelForValue(y);
      drawLine(ctx, x, pixel(inside(ends[0])), x, pixel(inside(ends[1])));
      // A bar that is cut off has no cap.
      for (const y of ends.filter((end) => end === inside(end)))
        drawLine(ctx, x - 3, pixel(y), x + 3, pixel(y));
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

// Names above the middle of their points, with a halo in the colour of the ground; one that would
// cover another is left out. `clusters` are {name, places: [{x, y}]}, the most important first.
function clusterNames(clusters) {
  return overlay("clusterNames", ({ chartArea, scales }, ctx) => {
    ctx.font = `600 12px ${Chart.defaults.font.family}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.lineJoin = "round";
    ctx.lineWidth = 4;
    ctx.strokeStyle = themeColour("--ground");
    ctx.fillStyle = themeColour("--ink");
    const taken = [];
    for (const { name, places } of clusters) {
      const text = shortened(name, 22);
      const half = ctx.measureText(text).width / 2 + 2;
      const within = (value, low, high) => Math.max(low, Math.min(high, value));
      const x = within(
        scales.x.getPixelForValue(middleOf(places.map((place) => place.x))),
        chartArea.left + half,
        chartArea.right - half,
      );
      // Above the middle, so that the points there can be seen.
      const y = scales.y.getPixelForValue(middleOf(places.map((place) => place.y))) - 13;
      if (taken.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 16))
        continue;
      taken.push({ x, y, half });
      ctx.strokeText(text, x, y);
      ctx.fillText(text, x, y);
    }
  });
}

// The median: a few points far away do not move it.
function middleOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
