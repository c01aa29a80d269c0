"""What run.sh has trained, in TensorBoard's files and in the program's own records."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FOLDER = pathlib.Path(sys.argv[1])


def read(folder):
    files = sorted(folder.glob("events.out.tfevents.*"))
    assert len(files) == 1, f"{folder}: {len(files)} files"
    lines = subprocess.run([sys.executable, HERE / "read_events.py", *files], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return files[0], [json.loads(line) for line in lines]


def curve(entries, tag):
    return [(entry["step"], entry["value"]) for entry in entries
            if entry.get("tag") == tag and "value" in entry]


def events(folder, name):
    lines = (folder / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]


def same(curve_values, wanted):
    assert len(curve_values) == len(wanted), (curve_values, wanted)
    for (place, value), (wanted_place, wanted_value) in zip(curve_values, wanted):
        assert place == wanted_place, (place, wanted_place)
        assert abs(value - wanted_value) <= 1e-6 * max(1, abs(wanted_value)), (value, wanted_value)


file, entries = read(FOLDER / "tb/run/seed-0")
epochs = events(FOLDER / "run/seed-0", "adapt_epoch")
assert len(epochs) == 2 * max(event["step"] for event in epochs)
same(curve(entries, "adapt/loss/source"),
     [(i + 1, event["loss.source"]) for i, event in enumerate(epochs)])
evaluations = events(FOLDER / "run/seed-0", "evaluation")
assert evaluations
same(curve(entries, "evaluation/accuracy_percent"),
     [(event["step"], event["accuracy_percent"]) for event in evaluations])
results = json.loads((FOLDER / "run/results.json").read_text())["seeds"][0]["metrics"]["steps"]
same(curve(entries, "evaluation/accuracy_percent"),
     [(step["step"], step["accuracy_percent"]) for step in results])

pictures = {(entry["tag"], entry["step"]) for entry in entries if "image" in entry}
captured = set()
for record in (FOLDER / "run/seed-0/steps").glob("*/prototypes.json"):
    for entry in json.loads(record.read_text())["captured"]:
        captured.add((f"prototypes/{entry['class']}", int(record.parent.name)))
assert pictures == captured and pictures, (pictures, captured)

_, source = read(FOLDER / "tb/run/source-0")
same(curve(source, "pretrain/loss"),
     [(event["epoch"], event["loss"]) for event in events(FOLDER / "run/source-0", "epoch")])

# The reader would notice.
damaged = FOLDER / "damaged"
content = bytearray(file.read_bytes())
content[len(content) // 2] ^= 1
damaged.write_bytes(content)
answer = subprocess.run([sys.executable, HERE / "read_events.py", damaged], capture_output=True,
                        text=True)
assert answer.returncode == 1 and "no event file" in answer.stderr, answer
print(f"{len(entries)} values and images, all as they should be")
