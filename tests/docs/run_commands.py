#!/usr/bin/env python3
"""Runs every command line of the README and the guide, as written, on real files.

    run_commands.py PROGRAM REPOSITORY

Each page has a sandbox with the folders and files that it names, small ones, and its commands run
there one after the other. What a command would take hours for is cut short by words put behind it
(CUT_SHORT), and by nothing else. What cannot run here stands in ELSEWHERE with the test that
covers it, what is no whole command in SKETCHES. A line in none of the tables that is not run, and
an entry that fits no line, are errors.

Exit status: 0 all well, 1 a command fails or a table does not fit.
"""
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from check_commands import code_blocks

# (page, beginning of the command, words put behind it, why)
SMALL = "--backbone resnet-small --image-size 32"
CUT_SHORT = [
    ("README.md", "proca pretrain", f"{SMALL} --epochs 1", "a ResNet-50, 100 epochs at 224 pixels"),
    ("README.md", "proca adapt", "--epochs 1", "an epoch shows as much as ten"),
    ("README.md", "proca run", f"{SMALL} --pretrain-epochs 1 --epochs 1", "as pretrain and adapt"),
    ("README.md", "proca reproduce",
     "--tasks A->W --runs ProCA --seeds 0 --set backbone=resnet-small --set image-size=32 "
     "--set pretrain-epochs=1 --set epochs=1", "126 runs of ResNet-50"),
    ("days.md", "proca data make-demo", "--source-per-class 4 --target-per-class 4", "the size"),
    ("days.md", "proca pretrain", "--epochs 1", "an epoch shows as much as fifteen"),
    ("days.md", "proca adapt", "--epochs 1", "an epoch shows as much as ten"),
    ("days.md", "proca watch", "--epochs 1", "as adapt"),
    ("own_data.md", "proca pretrain --source catalogue/ --weights resnet50.pth",
     "--epochs 1 --image-size 32", "100 epochs at 224 pixels"),
    ("own_data.md", "proca adapt", "--epochs 1", "an epoch shows as much as ten"),
    ("own_data.md", "proca pretrain --source digits/", "--epochs 1", "fifteen epochs"),
    ("weights.md", "proca pretrain", "--epochs 1 --image-size 32", "100 epochs at 224 pixels"),
    ("seeing.md", "proca run", "--pretrain-epochs 1 --epochs 1", "forty epochs"),
]

# Lines for other programs, and the test that covers each.
ELSEWHERE = {
    "make demo": "minutes of training; builds and runs `proca demo`, whose steps run here one by one",
    "make check": "runs the fast tests, which `make test` runs too",
    "make test": "runs this test",
    "torchrun --no_python --nproc_per_node=2 proca adapt --state state --target monday":
        "RanksTest.StartedByTorchrun, AStepIsThatOfOne",
    "mpirun -np 4 -x MASTER_ADDR=node1 proca pretrain --source photos --out state":
        "launch_test.cpp reads its variables; RanksTest.SourceTrainingIsThatOfOne",
    "srun --ntasks=16 --gpus-per-task=1 proca pretrain --source photos --out state":
        "launch_test.cpp reads its variables; RanksTest.SourceTrainingIsThatOfOne",
    "tensorboard --logdir tb": "the test `tensorboard` reads such files",
}

# Lines with something left out.
SKETCHES = [
    "torchrun --no_python --nnodes=2 --node_rank=0 --nproc_per_node=8 --master_addr=node1 "
    "proca run --preset office31-ci ... --out out",
]

# What a line of an unmarked block begins with if it is a command. In blocks marked `sh` all are.
COMMANDS = {"cmake", "cp", "make", "mkdir", "mpirun", "proca", "python3", "rm", "srun",
            "tensorboard", "torchrun"}
SHELL = {"sh", "bash", "console"}
UNMARKED = {"", "text"}
# Blocks that hold no commands, and the test that has them.
OTHER_BLOCKS = {
    "cmake": "tests/consumer",
    "python": "python_page_test.py",
    "toml": "check_commands.py, and the commands here that take such a file",
    "{literalinclude}": "tests/consumer builds the examples",
}


def write_image(path, colour, number, size=32):
    """A PNG of a colour, with a pattern of its own."""
    rows = bytearray()
    for y in range(size):
        rows.append(0)  # PNG: no filter
        for x in range(size):
            rows += bytes((part + (x * y * (number + 3) + 7 * x) % 60) % 256 for part in colour)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.parent.mkdir(parents=True, exist_ok=True)
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
                     chunk(b"IDAT", zlib.compress(bytes(rows), 1)) + chunk(b"IEND", b""))


def colour_of(label):
    return (label * 53 % 190, label * 101 % 190, label * 29 % 190)


class Sandbox:
    """A folder in which the commands of a page run, with `proca` on the path."""

    def __init__(self, folder, program):
        self.folder = folder
        self.folder.mkdir()
        tools = folder.parent / "bin"
        tools.mkdir(exist_ok=True)
        link = tools / "proca"
        if not link.exists():
            link.symlink_to(program)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def run(self, text):
        return subprocess.run(["bash", "-c", text], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, text=True, capture_output=True)

    def prepare(self, text):
        """A command that makes something the page takes to be there."""
        result = self.run(text)
        if result.returncode != 0:
            raise RuntimeError(f"preparing a page: {text}: {result.stderr.strip()}")

    def classes(self, name, num_classes=3, per_class=4, shift=0):
        """A folder per class."""
        for label in range(num_classes):
            for number in range(per_class):
                write_image(self.folder / name / f"class-{label:02}" / f"{number}.png",
                            colour_of(label), number + shift)

    def images(self, name, labels, per_class=4):
        """A folder of images, without labels."""
        for label in labels:
            for number in range(per_class):
                write_image(self.folder / name / f"{label}-{number}.png", colour_of(label),
                            number + 20 + label)

    def weights(self, name, backbone):
        """A weight file; what is in it counts, not its name."""
        self.classes("for-weights", num_classes=2, per_class=2)
        self.prepare(f"proca pretrain --source for-weights --out for-weights-state --epochs 1 "
                     f"--backbone {backbone} --image-size 32 --quiet")
        (self.folder / "for-weights-state/model.safetensors").rename(self.folder / name)
        self.prepare("rm -r for-weights for-weights-state")

    def state(self, name, images="catalogue"):
        self.prepare(f"proca pretrain --source {images} --out {name} --epochs 1 "
                     "--backbone resnet-small --image-size 32 --quiet")


def stream(box):
    box.classes("catalogue")
    box.images("monday", [0])
    box.images("tuesday", [1, 2])
    box.images("new", [0, 1, 2], per_class=2)


def readme(box):
    stream(box)
    for shift, domain in enumerate(("amazon", "dslr", "webcam")):
        box.classes(f"office31/{domain}", num_classes=31, per_class=2, shift=shift)
    box.weights("resnet50.pth", "resnet-small")


def choosing(box):
    box.classes("data/catalogue")
    box.classes("data/photos", shift=9)
    (box.folder / "mine.toml").write_text(
        'summary = "mine"\nclasses-per-step = 1\nsteps = 3\n[pretrain]\nepochs = 1\n'
        'backbone = "resnet-small"\nimage-size = 32\n[adapt]\nepochs = 1\n')


def first_run(box):
    """What `make demo` leaves, of fewer images and epochs."""
    box.prepare("proca data make-demo --out out/demo/images --source-per-class 3 "
                "--target-per-class 3")
    box.prepare("proca run --preset demo --data-root out/demo/images --source sketch "
                "--target photo --out out/demo/census --pretrain-epochs 1 --epochs 1 --quiet")


def own_data(box):
    stream(box)
    box.classes("digits", num_classes=10, per_class=2)
    box.weights("resnet50.pth", "resnet50")
    box.prepare("cp resnet50.pth mine.safetensors")


def weights_page(box):
    box.classes("catalogue")
    box.weights("resnet50.pth", "resnet50")


def python_page(box):
    stream(box)
    box.state("state")


def seeing(box):
    stream(box)
    box.state("state")
    box.prepare("proca adapt --state state --target monday --epochs 1 --quiet")
    box.prepare("proca data make-demo --out images --source-per-class 3 --target-per-class 3")
    run = ("proca run --preset demo --data-root images/ --source sketch --target photo "
           "--pretrain-epochs 1 --epochs 1 --quiet")
    box.prepare(f"{run} --out runs/proca --method proca")
    box.prepare(f"{run} --out runs/dann --method dann --iterations 5 --source-state runs/proca/source-0")


# What is to be there before a page's first command.
PREPARATIONS = {
    "README.md": readme, "choosing.md": choosing, "first_run.md": first_run,
    "own_data.md": own_data, "weights.md": weights_page, "python.md": python_page, "seeing.md": seeing,
}


def command_lines(text):
    """(line number, command) of a page; comments behind a command are left out."""
    for first_line, language, block in code_blocks(text):
        if language not in SHELL | UNMARKED:
            continue
        number = first_line
        for line in re.sub(r"\\\n", " \x00", block).splitlines():
            command = re.sub(r"(^|\s)#\s.*$", "", line.replace("\x00", "")).strip()
            command = re.sub(r"\s{2,}", " ", command)
            first_word = command.split(" ")[0]
            if command and (language in SHELL or first_word in COMMANDS):
                yield number, command
            number += 1 + line.count("\x00")


def write_configurations(text, folder):
    """The TOML blocks whose first line is a comment such as `# proca adapt --config days.toml`."""
    for _, language, block in code_blocks(text):
        named = re.match(r"# proca \w+ --config (\S+)\n", block)
        if language == "toml" and named:
            (folder / named.group(1)).write_text(block)


class Checker:
    def __init__(self):
        self.complaints = []
        self.used = set()
        self.ran = self.elsewhere = self.sketches = 0

    def cut_short(self, page, command):
        for entry in CUT_SHORT:
            if entry[0] == page and command.startswith(entry[1]):
                self.used.add(entry)
                return f"{command} {shlex.join(entry[2].split())}"
        return command

    def run(self, where, box, command):
        result = box.run(self.cut_short(where.split(":")[0], command))
        self.ran += 1
        if result.returncode != 0:
            last = "\n  ".join(result.stderr.strip().splitlines()[-3:])
            self.complaints.append(f"{where}: {command}: exit code {result.returncode}: {last}")
            return
        words = shlex.split(command)
        if "--out" in words and not (box.folder / words[words.index("--out") + 1]).exists():
            self.complaints.append(f"{where}: {command}: its --out is not there")
        for left in box.folder.rglob("*.next"):
            self.complaints.append(f"{where}: {command}: leaves {left.relative_to(box.folder)}")

    def page(self, path, folder, program):
        text = path.read_text(encoding="utf-8")
        for fence in re.findall(r"^```(\S+)[^\n]*\n.*?^```", text, re.M | re.S):
            if fence not in SHELL | UNMARKED | set(OTHER_BLOCKS):
                self.complaints.append(f"{path.name}: OTHER_BLOCKS does not name `{fence}`")
        commands = list(command_lines(text))
        to_run = [each for each in commands if each[1] not in SKETCHES and each[1] not in ELSEWHERE]
        self.sketches += sum(command in SKETCHES for _, command in commands)
        self.elsewhere += sum(command in ELSEWHERE for _, command in commands)
        self.used.update(command for _, command in commands)
        if not to_run:
            return
        box = Sandbox(folder / path.stem, program)
        write_configurations(text, box.folder)
        PREPARATIONS.get(path.name, lambda box: None)(box)
        for number, command in to_run:
            if "…" in command or " ... " in command:
                self.complaints.append(f"{path.name}:{number}: {command}: a sketch that "
                                       "SKETCHES does not name")
            else:
                self.run(f"{path.name}:{number}", box, command)

    def check_tables(self):
        for entry in [*CUT_SHORT, *ELSEWHERE, *SKETCHES]:
            if entry not in self.used:
                self.complaints.append(f"run_commands.py: no page has {entry}")


def main(program, repository):
    repository = Path(repository)
    checker = Checker()
    with tempfile.TemporaryDirectory() as folder:
        for page in [repository / "README.md", *sorted((repository / "docs/guide").glob("*.md"))]:
            checker.page(page, Path(folder), Path(program).resolve())
    checker.check_tables()
    print("\n".join(checker.complaints), file=sys.stderr)
    print(f"{checker.ran} commands ran, {checker.elsewhere} are tested elsewhere, "
          f"{checker.sketches} are sketches; {len(checker.complaints)} complaints")
    return 1 if checker.complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
