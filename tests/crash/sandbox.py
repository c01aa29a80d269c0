"""Shared by the tests of this folder: tiny images, the program, and the content of a state."""

import json
import os
import random
import signal
import shutil
import struct
import subprocess
import zlib

CLASSES = ["frame", "level", "upright"]
SIZE = 16


def png(pixels):
    """A picture of SIZE x SIZE RGB pixels as a PNG file."""

    def chunk(kind, content):
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    rows = b"".join(
        b"\0" + pixels[y * SIZE * 3 : (y + 1) * SIZE * 3] for y in range(SIZE)
    )
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def draw(label, index, domain):
    """A bright bar or frame on noise; the target domain is dimmer and inverted."""
    noise = random.Random(f"{label} {index} {domain}")
    place = noise.randrange(3, SIZE - 3)
    pixels = bytearray()
    for y in range(SIZE):
        for x in range(SIZE):
            edge = min(x, y, SIZE - 1 - x, SIZE - 1 - y) < 2
            bright = [edge, abs(y - place) < 2, abs(x - place) < 2][label]
            for _ in range(3):
                value = (180 if bright else 20) + noise.randrange(60)
                pixels.append(value if domain == "source" else 230 - value // 2)
    return bytes(pixels)


def write_images(folder, labels, per_class, domain, first=0, flat=False):
    for label in labels:
        place = folder if flat else os.path.join(folder, CLASSES[label])
        os.makedirs(place, exist_ok=True)
        for i in range(first, first + per_class):
            with open(os.path.join(place, f"{label}-{i:03}.png"), "wb") as file:
                file.write(png(draw(label, i, domain)))


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n{self.out}{self.err}"


class Sandbox:
    """A folder with images, a preset, and the commands of the tests."""

    def __init__(self, program, folder, library):
        self.program, self.folder, self.library = program, folder, library
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        write_images(self / "source", range(3), 4, "source")
        write_images(self / "target", range(3), 4, "target")
        for label in range(3):
            write_images(self / f"day{label}", [label], 4, "target", flat=True)
        with open(self / "own.toml", "w") as file:
            file.write(
                'summary = "bars"\nclasses-per-step = 1\nsteps = 2\n'
                'class-order = ["frame", "level", "upright"]\n'
                f'[pretrain]\nbackbone = "resnet-small"\nimage-size = {SIZE}\nepochs = 2\nbatch-size = 6\n'
                "[adapt]\nepochs = 2\nbatch-size = 4\nlr = 0.01\n"
                "[method]\nprototypes = 2\ncapture-first = 0\n"
            )

    def __truediv__(self, name):
        return os.path.join(self.folder, name)

    # The commands; `out` is the folder or file that they write.
    def pretrain(self, out, epochs=2):
        return (
            ["pretrain", "--source", self / "source", "--out", out, "--backbone", "resnet-small"]
            + ["--image-size", str(SIZE), "--epochs", str(epochs), "--batch-size", "6"]
            + ["--checkpoint-every", "0", "--threads", "1", "--device", "cpu"]
        )

    def adapt(self, out, target="day0", epochs=2):
        return (
            ["adapt", "--method", "proca", "--state", out, "--target", self / target, "--epochs", str(epochs)]
            + ["--batch-size", "4", "--prototypes", "2", "--capture-first", "0", "--lr", "0.01"]
            + ["--checkpoint-every", "0", "--threads", "1", "--device", "cpu"]
        )

    def run_protocol(self, out):
        return (
            ["run", "--method", "proca", "--preset", self / "own.toml", "--data-root", self.folder]
            + ["--source", "source", "--target", "target", "--out", out, "--checkpoint-every", "0", "--threads", "1"]
            + ["--device", "cpu", "--no-report"]
        )

    def pack(self, out):
        return ["data", "pack", self / "source", "--image-size", "64", "--out", out]

    def export(self, out):
        return ["export", "--state", self / "trained", "--format", "safetensors", "--out", out]

    def start(self, words, environment=None):
        variables = dict(os.environ, LD_PRELOAD=self.library, PROCA_NO_SYNC="1")
        variables.update(environment or {})
        return subprocess.Popen(
            [self.program] + words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
        )

    def finish(self, process):
        out, err = process.communicate()
        return Result(process.returncode, out.decode(), err.decode())

    def call(self, words, environment=None):
        return self.finish(self.start(words, environment))

    def start_and_stop(self, words, below, call, file, number=1):
        """Starts it and waits until it is stopped at a call; SIGCONT continues it."""
        process = self.start(words, self.faults(below, "stop", number, call=call, file=file))
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            raise AssertionError(f"{' '.join(words)}: ended before {call} {file}: {process.stderr.read()}")
        return process

    def call_well(self, words, environment=None):
        result = self.call(words, environment)
        if result.code != 0:
            raise AssertionError(f"{' '.join(words)}: {result}")
        return result

    def faults(self, below, kind="", at=0, log=None, call=None, file=None):
        """Environment for `fault_injection.cpp`."""
        variables = {"PROCA_FAULT_FOLDER": below, "PROCA_FAULT_KIND": kind}
        if call:
            variables["PROCA_FAULT_CALL"] = call
        if file:
            variables["PROCA_FAULT_FILE"] = file
        if at:
            variables["PROCA_FAULT_AT"] = str(at)
        if log:
            variables["PROCA_FAULT_LOG"] = log
        return variables

    def list_calls(self, words, below):
        """The calls that change files below a folder while a command runs well. A file is written
        in many pieces: the numbers of calls in a row that do the same to one file are a list."""
        log = self / "calls.log"
        if os.path.exists(log):
            os.remove(log)
        self.call_well(words, self.faults(below, log=log))
        moments, before = [], None
        with open(log) as file:
            for line in file:
                number, what = line.split(" ", 1)
                if what != before:
                    moments.append([])
                moments[-1].append(int(number))
                before = what
        return moments


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def copy(place, to):
    """A file or folder, in place of what is there; nothing if there is none."""
    if os.path.isdir(to):
        shutil.rmtree(to)
    elif os.path.exists(to):
        os.remove(to)
    if os.path.isdir(place):
        shutil.copytree(place, to)
    elif os.path.exists(place):
        shutil.copyfile(place, to)


def files_below(folder):
    for place, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            yield os.path.relpath(os.path.join(place, name), folder)


# --- The content of a state, as docs/formats/state_directory.md describes it ------------------

# Times, and figures of the process.
INCIDENTAL = ["time", "seconds", "images_per_s", "data_s"]
INCIDENTAL += ["peak_memory_bytes", "peak_gpu_memory_bytes"]


def content_of_state(folder):
    """The content of a state that must be reproducible, by name. Fails unless it is one whole checkpoint."""
    text = read(folder, "state.json")
    sealed, crc = text.rsplit(b',\n  "crc32": "', 1)
    assert crc == b'%08x"\n}\n' % zlib.crc32(sealed), f"{folder}/state.json: checksum"
    manifest = json.loads(text)
    content = {}
    for name, record in manifest["files"].items():
        for candidate in [name, name + ".next"]:
            path = os.path.join(folder, candidate)
            if not os.path.exists(path):
                continue
            found = read(path)
            if len(found) == record["size"] and zlib.crc32(found) == record["crc32"]:
                content[name] = found
                break
        assert name in content, f"{folder}/{name}: does not match state.json"
    events = b""
    if manifest["events_bytes"] > 0:
        events = read(folder, "events.jsonl")[: manifest["events_bytes"]]
        assert len(events) == manifest["events_bytes"], f"{folder}: events.jsonl is too short"
        assert zlib.crc32(events) == manifest["events_crc32"], f"{folder}: events.jsonl"
    content["events"] = [
        {key: value for key, value in json.loads(line).items() if key not in INCIDENTAL}
        for line in events.splitlines()
    ]
    # One per process; of everything else there is exactly one.
    content["events"] = [event for event in content["events"] if event["event"] != "start"]
    for key in ["crc32", "events_bytes", "events_crc32", "files"]:
        del manifest[key]
    content["manifest"] = manifest
    return content


def content_of_run(folder):
    """The same for the folder of `proca run`."""
    content = {}
    for name in ["run.toml", "results.json", "results.txt"]:
        if os.path.exists(os.path.join(folder, name)):
            content[name] = read(folder, name)
    for part in ["source-0", "seed-0"]:
        if os.path.exists(os.path.join(folder, part, "state.json")):
            for name, value in content_of_state(os.path.join(folder, part)).items():
                content[f"{part}/{name}"] = value
    return content


def content_of_file(path):
    return {"content": read(path)}


def differences(content, reference):
    names = sorted(set(content) | set(reference))
    return [name for name in names if content.get(name) != reference.get(name)]


def expect_nothing_left(place):
    """No temporary file beside or below what was written."""
    folder = place if os.path.isdir(place) else os.path.dirname(place)
    own = "" if os.path.isdir(place) else os.path.basename(place)
    for name in files_below(folder):
        if name.startswith(own):
            assert ".tmp-" not in name and not name.endswith(".next"), f"{name} was left behind"
