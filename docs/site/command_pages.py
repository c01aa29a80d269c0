#!/usr/bin/env python3
"""Writes a page per command from what the program says with --help.

    command_pages.py PROGRAM FOLDER

Makes FOLDER/index.md, a page for each command, and options.md with every option and the
commands that have it.
"""
import functools
import re
import subprocess
import sys
from pathlib import Path

# Where the text of an option begins.
COLUMN = 30


@functools.lru_cache(maxsize=None)
def help_of(program, *words):
    return subprocess.run([program, *words, "--help"], check=True, text=True,
                          capture_output=True).stdout


def sections(text):
    """(title, [(head, text)]) of a help text; a head too long has its text on the next line."""
    found, lines = [], text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""]):
        if re.match(r"^\S.*:$", line):
            found.append((line[:-1], []))
        elif found and line.startswith(" " * COLUMN):
            head, before = found[-1][1][-1]
            found[-1][1][-1] = (head, f"{before} {line.strip()}".strip())
        elif found and line.startswith("  "):
            is_long = len(line) <= COLUMN or following.startswith(" " * COLUMN)
            column = len(line) if is_long else COLUMN
            found[-1][1].append((line[:column].strip(), line[column:].strip()))
    return found


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def option_row(head, text):
    facts = re.search(r" ?\[((?:required|default|at least|at most|[-\d.]+ to).*)\]$", text)
    meaning = text[:facts.start()] if facts else text
    return f"| `{cell(head)}` | {cell(meaning)} | {cell(facts.group(1)) if facts else ''} |"


def command_page(program, words):
    lines = help_of(program, *words).splitlines()
    page = [f"# proca {' '.join(words)}", "", lines[0] + ".", "", "```text", lines[1], "```", ""]
    options = []
    for title, entries in sections("\n".join(lines[2:])):
        if title == "Commands":
            continue
        page += [f"## {title}", "", "| option | meaning | default and range |", "|---|---|---|"]
        for head, text in entries:
            page.append(option_row(head, text))
            options.append((title, head, text))
        page.append("")
    return "\n".join(page), options


def commands_of(program):
    """(words, summary) of every command, groups resolved."""
    for name, summary in dict(sections(help_of(program)))["Commands"]:
        members = dict(sections(help_of(program, name))).get("Commands", [])
        is_group = members and "COMMAND [OPTIONS]" in help_of(program, name)
        if not is_group:
            yield (name,), summary
        for member, text in members:
            yield (name, member), text


def main(program, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# Commands", "", "`proca COMMAND --help` says the same. Results go to standard output, "
             "log and progress to standard error; exit status 0 is done, 1 failed, 2 bad usage or "
             "bad input.", "", "| command | |", "|---|---|"]
    names, by_option = [], {}
    for words, summary in commands_of(program):
        text, options = command_page(program, words)
        name = "-".join(words)
        (folder / f"{name}.md").write_text(text)
        names.append(name)
        index.append(f"| [proca {' '.join(words)}]({name}.md) | {cell(summary)} |")
        for title, head, meaning in options:
            if title == "Common options" or not head.startswith("-"):
                continue
            flag = head.split()[0]
            by_option.setdefault(flag, (head, title, meaning, []))[3].append((name, words))
    index += ["", "```{toctree}", ":hidden:", "", *names, "```"]
    (folder / "index.md").write_text("\n".join(index) + "\n")
    page = ["# Options", "", "Every option of every command. Each is also a key of the file given by "
            "`--config FILE.toml`: `--batch-size 8` is `batch-size = 8`, and those of a method stand "
            "below `[method]`. A flag wins over the file. Where commands explain an option in other "
            "words, those of the first are shown.", "", "| option | meaning | of |", "|---|---|---|"]
    for flag, (head, title, meaning, users) in sorted(by_option.items()):
        table = re.match(r"Options of \[(.*)\]", title)
        key = f" Key of `[{table.group(1)}]`." if table else ""
        links = ", ".join(f"[{' '.join(words)}]({name}.md)" for name, words in users)
        page.append(f"| `{cell(head)}` | {cell(meaning)}{key} | {links} |")
    (folder / "options.md").write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
