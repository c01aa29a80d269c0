#!/usr/bin/env python3
"""Would the program take every command line that the documentation shows?

    check_commands.py PROGRAM FILE_OR_FOLDER...

Looks at the code blocks of Markdown files. A line that begins with `proca ` is given to the
program with `--print-config`, which checks all flags and values and does no work. A block of
TOML whose first line is a comment such as `# proca adapt --config monday.toml` is given to
that command as its configuration. What has a `…` in it is a sketch, and left alone.

Exit status: 0 all well, 1 a command or key is refused, or there is none.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def code_blocks(text):
    """(line number of the first line, language, text)"""
    for block in BLOCK.finditer(text):
        yield text.count("\n", 0, block.start()) + 2, block.group(1), block.group(2)


def commands_of(first_line, block):
    """(line number, words) of each command line of the program."""
    joined = block.replace("\\\n", "  ")
    for number, line in enumerate(joined.splitlines(), first_line):
        if not line.startswith("proca ") or "…" in line:
            continue
        words = shlex.split(line, comments=True)
        end = next((i for i, word in enumerate(words) if word in ("|", ">", "&&", ";", "&")),
                   len(words))
        yield number, words[1:end]


def refusal(program, words):
    """Why the program refuses these words, or None."""
    if not set(words) & {"--help", "--version", "--list"}:
        words = [*words, "--print-config"]
    result = subprocess.run([program, *words], text=True, capture_output=True)
    return None if result.returncode == 0 else result.stderr.strip()


def check_page(program, path):
    complaints, checked = [], 0
    for first_line, language, block in code_blocks(path.read_text(encoding="utf-8")):
        if language == "toml":
            named = re.match(r"# proca (\w+) --config (\S+)\n", block)
            if not named:
                continue
            Path(named.group(2)).write_text(block)
            commands = [(first_line, [named.group(1), "--config", named.group(2)])]
        else:
            commands = list(commands_of(first_line, block))
        for line, words in commands:
            checked += 1
            why = refusal(program, words)
            if why:
                complaints.append(f"{path}:{line}: proca {shlex.join(words)}: {why}")
    return checked, complaints


def main(program, *places):
    program = os.path.abspath(program)
    pages = []
    for place in map(Path, places):
        pages += sorted(place.rglob("*.md")) if place.is_dir() else [place]
    pages = [page.resolve() for page in pages]
    checked, complaints = 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in pages:
            count, found = check_page(program, page)
            checked += count
            complaints += found
        os.chdir("/")
    print("\n".join(complaints), file=sys.stderr)
    print(f"{checked} commands, {len(complaints)} refused")
    return 1 if complaints or checked == 0 else 0  # Pages without a command are read wrongly.


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
