"""proca against the same algorithm in plain PyTorch, on this machine, in one run.

A whole task, from image files to final accuracy, process start included:

    python3 benchmarks/compare_pytorch.py run PROCA_PROGRAM --preset presets/office31-ci.toml \\
        --data-root office31 --source amazon --target webcam --source-state STATE --precision bf16

Adaptation iterations alone, on made-up images:

    python3 benchmarks/compare_pytorch.py iteration PROCA_PROGRAM --batch-size 32 --precision bf16

The two take turns, so that a change in the load of the machine hits both; the first turn of
each brings files into memory and is not counted. Prints a Markdown table of medians, smallest
and largest values; --out DIR also keeps it, and every single figure as JSON.
"""

import argparse
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def run_child(command):
    """(standard output, seconds from start to end, peak memory in MB)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            sys.exit(f"{shlex.join(str(word) for word in command)}\nended with "
                     f"{child.returncode}:\n{err.read().decode(errors='replace')}")
        return out.read().decode(), seconds, usage.ru_maxrss / 1e3


def common_flags(args):
    return ["--precision", args.precision, "--threads", args.threads, "--device", args.device]


def task_flags(args):
    return ["--preset", args.preset, "--data-root", args.data_root, "--source", args.source,
            "--target", args.target, "--source-state", args.source_state, "--seed", args.seed,
            *(["--epochs", args.epochs] if args.epochs else [])]


def run_ours(args):
    with tempfile.TemporaryDirectory() as folder:
        output, seconds, memory = run_child(
            [args.program, "run", "--method", "proca", "--out", f"{folder}/run", "--json",
             "--quiet", *task_flags(args), *common_flags(args), *shlex.split(args.ours)])
    accuracy = json.loads(output)["final_accuracy_percent"]["mean"]
    return {"seconds": seconds, "final_accuracy_percent": accuracy, "peak_memory_mb": memory}


def run_theirs(args):
    output, seconds, memory = run_child(
        [args.python, HERE / "pytorch_proca.py", *task_flags(args), *common_flags(args),
         *shlex.split(args.theirs)])
    result = json.loads(output)
    return {"seconds": seconds, "final_accuracy_percent": result["final_accuracy_percent"],
            "peak_memory_mb": memory, "phases": result["seconds"],
            "device_name": result["device_name"], "torch": result["torch"]}


def iteration_flags(args):
    return ["--backbone", args.backbone, "--image-size", args.image_size, "--batch-size",
            args.batch_size, "--iterations", args.iterations, "--repeats", args.inner_repeats]


def iterate_ours(args):
    output, _, _ = run_child([args.program, "bench", "iteration", "--json", "--quiet",
                              *iteration_flags(args), *common_flags(args),
                              *shlex.split(args.ours)])
    return json.loads(output)


def iterate_theirs(args):
    output, _, _ = run_child([args.python, HERE / "pytorch_proca.py", "--bench-iteration",
                              *iteration_flags(args), *common_flags(args),
                              *shlex.split(args.theirs)])
    return json.loads(output)


def summary(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def table(result, unit):
    lines = [f"| {result['title']} | median {unit} | from | to |", "|---|---|---|---|"]
    digits = 2 if unit == "s" else 0
    for name, key in (("proca", "ours"), ("PyTorch", "theirs")):
        figures = result[key]
        cells = " | ".join(f"{figures[part]:.{digits}f}" for part in ("median", "min", "max"))
        lines.append(f"| {name} | {cells} |")
    lines.append(f"\nproca is {result['ratio']:.2f} times as fast.")
    if "accuracy" in result:
        lines.append("Final accuracy, %: proca {ours:.2f}, PyTorch {theirs:.2f}.".format(
            **result["accuracy"]))
    return "\n".join(lines) + "\n"


def compare(args):
    whole = args.what == "run"
    ours, theirs = (run_ours, run_theirs) if whole else (iterate_ours, iterate_theirs)
    figure = "seconds" if whole else "images_per_s"
    rounds = []
    for number in range(-args.warmup, args.repeats):
        turn = {"ours": ours(args), "theirs": theirs(args)}
        print(f"round {number + 1}: proca {turn['ours'][figure]:.2f}, "
              f"PyTorch {turn['theirs'][figure]:.2f}" + (" (not counted)" if number < 0 else ""),
              file=sys.stderr)
        if number >= 0:
            rounds.append(turn)
    of = {who: summary([turn[who][figure] for turn in rounds]) for who in ("ours", "theirs")}
    ratio = of["ours"]["median"] / of["theirs"]["median"]
    title = (f"{pathlib.Path(args.preset).stem} {args.source} -> {args.target}" if whole else
             f"{args.backbone}, 3 x {args.batch_size} images of {args.image_size} pixels")
    result = {"what": args.what, "title": f"{title}, {args.precision}", "figure": figure,
              "machine": platform.node(), "command": shlex.join(sys.argv), **of,
              "ratio": 1 / ratio if whole else ratio, "rounds": rounds}
    if whole:
        result["accuracy"] = {who: statistics.median(turn[who]["final_accuracy_percent"]
                                                     for turn in rounds)
                              for who in ("ours", "theirs")}
    return result


def make_source_model(args, folder):
    """By `proca run`, once, without counting its time."""
    run_child([args.program, "run", "--preset", args.preset, "--data-root", args.data_root,
               "--source", args.source, "--target", args.target, "--seed", args.seed, "--method",
               "source-only", "--out", folder, "--quiet", "--threads", args.threads, "--device",
               args.device, *shlex.split(args.pretrain)])
    return f"{folder}/source-{args.seed}"


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["run", "iteration"])
    parser.add_argument("program", help="the proca to time")
    parser.add_argument("--python", default=sys.executable, help="one that has torch")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each")
    parser.add_argument("--warmup", type=int, default=1, help="turns that are not counted")
    parser.add_argument("--precision", choices=["fp32", "tf32", "bf16"], default="tf32")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--ours", default="", help="further options of proca, in one word")
    parser.add_argument("--theirs", default="", help="further options of pytorch_proca.py")
    parser.add_argument("--out", type=pathlib.Path, help="folder for comparison.json and .md")
    task = parser.add_argument_group("run")
    task.add_argument("--preset", help="TOML file")
    task.add_argument("--data-root")
    task.add_argument("--source")
    task.add_argument("--target")
    task.add_argument("--source-state", help="of the source model; else one is trained first")
    task.add_argument("--pretrain", default="", help="options of that training, in one word")
    task.add_argument("--epochs", type=int, default=0, help="per step; 0: the preset's")
    task.add_argument("--seed", type=int, default=0)
    iteration = parser.add_argument_group("iteration")
    iteration.add_argument("--backbone", default="resnet50")
    iteration.add_argument("--image-size", type=int, default=224)
    iteration.add_argument("--batch-size", type=int, default=32)
    iteration.add_argument("--iterations", type=int, default=10, help="per inner repeat")
    iteration.add_argument("--inner-repeats", type=int, default=5, help="in one process")
    args = parser.parse_args()
    missing = [name for name in ("preset", "data_root", "source", "target")
               if args.what == "run" and not getattr(args, name)]
    if missing:
        parser.error("--" + missing[0].replace("_", "-") + " is missing")
    return args


def main():
    args = parse()
    with tempfile.TemporaryDirectory() as folder:
        if args.what == "run" and not args.source_state:
            args.source_state = make_source_model(args, folder)
        result = compare(args)
    text = table(result, "s" if args.what == "run" else "images/s")
    print(text, end="")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "comparison.json").write_text(json.dumps(result, indent=1) + "\n")
        (args.out / "comparison.md").write_text(text)


if __name__ == "__main__":
    main()
