"""Tables from the runs of benchmarks/office31_ci.sh, as Markdown.

    office31_table.py OUT

One row per kind of run (source-only, paper, ...): the mean over the seeds of Final
accuracy for each task, their average, the average of S-1 at the last step, detection
recall and precision, and pseudo-label accuracy.
"""

import json
import pathlib
import statistics
import sys

TASKS = ["amazon-dslr", "amazon-webcam", "dslr-amazon", "dslr-webcam", "webcam-amazon", "webcam-dslr"]


def mean(values):
    return statistics.fmean(values) if values else float("nan")


def cell(values):
    if not values:
        return "-"
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{mean(values):.1f} ± {spread:.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def main():
    out = pathlib.Path(sys.argv[1])
    kinds = sorted({path.parent.parent.name for path in out.glob("*/*/results.json")})
    header = ["run"] + [task.replace("-", " → ") for task in TASKS]
    header += ["Avg", "S-1", "recall", "precision", "pseudo-labels"]
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for kind in kinds:
        finals, row, extra = {}, [kind], {"S-1": [], "recall": [], "precision": [], "pseudo": []}
        for task in TASKS:
            finals[task] = []
            for path in sorted(out.glob(f"{kind}/{task}-*/results.json")):
                metrics = json.loads(path.read_text())["seeds"][0]["metrics"]
                finals[task].append(metrics["final_accuracy_percent"])
                extra["S-1"].append(metrics["final_s1_accuracy_percent"])
                for name, key in [("recall", "mean_recall_percent"),
                                  ("precision", "mean_precision_percent"),
                                  ("pseudo", "pseudo_label_accuracy_percent")]:
                    if metrics.get(key) is not None:
                        extra[name].append(metrics[key])
            row.append(cell(finals[task]))
        complete = [mean(values) for values in finals.values() if values]
        row.append(f"{mean(complete):.1f}" if len(complete) == len(TASKS) else "-")
        row += [f"{mean(values):.1f}" if values else "-" for values in extra.values()]
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
