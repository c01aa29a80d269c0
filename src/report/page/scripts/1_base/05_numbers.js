// Numbers and names as people read them. Downloads have them in full precision instead.

const kNotKnown = "–";

function isKnown(value) {
  return value !== null && value !== undefined && !Number.isNaN(value);
}

function decimals(value, digits = 1) {
  // A true minus sign; and no "-0.0".
  if (!isKnown(value)) return kNotKnown;
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

// "+19.7", "−2.6": a difference.
function signed(value, digits = 1) {
  const text = decimals(value, digits);
  return isKnown(value) && value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

function significant(value, digits = 3) {
  if (!isKnown(value)) return kNotKnown;
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6))
    return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(digits)));
}

function countText(value) {
  return isKnown(value) ? value.toLocaleString("en") : kNotKnown;
}

// "1 seed", "3 seeds".
function plural(count, word, words = `${word}s`) {
  return `${countText(count)} ${count === 1 ? word : words}`;
}

function durationText(seconds) {
  if (!isKnown(seconds)) return kNotKnown;
  if (seconds > 0 && seconds < 0.0001) return "< 0.1 ms";
  if (seconds > 0 && seconds < 0.1) return `${significant(seconds * 1000, 2)} ms`;
  if (seconds < 100) return `${significant(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

function bytesText(bytes) {
  if (!isKnown(bytes)) return kNotKnown;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${significant(value)} ${units[unit]}`;
}

// A time in UTC, without the seconds; other texts are shown as they are.
function timeText(iso) {
  if (!isKnown(iso)) return kNotKnown;
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return String(iso);
  return time.toISOString().slice(0, 16).replace("T", " ");
}

// Mean and standard deviation with n - 1, as in docs/metrics.md.
function statistics(values) {
  const known = values.filter(isKnown);
  if (known.length === 0) return { mean: null, deviation: null, count: 0 };
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = known.length > 1 ? Math.sqrt(squares / (known.length - 1)) : 0;
  return { mean, deviation, count: known.length };
}

function meanText(figure, digits = 1) {
  const mean = decimals(figure.mean, digits);
  return figure.count > 1 ? `${mean} ± ${decimals(figure.deviation, digits)}` : mean;
}

function shortened(text, most = 18) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}
