// Names of runs and methods. What all runs of the page have in common in the front of their names
// is said once, in the head of the page.

const kMethodNames = {
  census: "Census",
  proca: "ProCA",
  "source-only": "source only",
  dann: "DANN",
  pada: "PADA",
  etn: "ETN",
  ba3us: "BA³US",
  cida: "CIDA",
};

const commonName = commonBeginning(report.runs.map(fullName));

function fullName(run) {
  return String(run.name ?? run.folder ?? run.id);
}

function runName(run) {
  return fullName(run).slice(commonName.length);
}

// The longest beginning of whole words that all names have; every name keeps at least a word, and
// "A → B" stays together.
function commonBeginning(names) {
  if (names.length < 2) return "";
  const words = names.map((name) => name.match(/\S+\s*/g) ?? []);
  const shortest = words.reduce((least, own) => Math.min(least, own.length), Infinity);
  let shared = 0;
  while (shared + 1 < shortest && words.every((own) => own[shared] === words[0][shared])) shared += 1;
  const isArrow = (index) => words[0][index]?.startsWith("→");
  while (shared > 0 && words.some((own) => isArrow(shared - 1) || own[shared].startsWith("→"))) shared -= 1;
  return words[0].slice(0, shared).join("");
}

// "ProCA", "PADA with prototypes"; methods of others by their own names.
function methodName(method) {
  const own = String(method ?? "this method");
  const base = own.replace(/-prototypes$/, "");
  if (!Object.hasOwn(kMethodNames, base)) return own;
  return kMethodNames[base] + (base === own ? "" : " with prototypes");
}
