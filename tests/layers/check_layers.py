"""Checks that the modules include one another in one direction only.

    check_layers.py [ROOT]

The numbered list of ROOT/src/README.md is the order: a file of a module may
include that module and those above it. Further rules:

  - every source and header lies in a listed module, and src/CMakeLists.txt
    builds the modules in the list's order
  - core, config, data and protocol include nothing of LibTorch
  - public headers do not include <torch/torch.h>, nor a header that is not installed
  - no include climbs with ".."
  - a folder has at most 25 files

Prints one line per violation, "file:line: what", and exits with 1 if there is any.
"""

import pathlib
import re
import sys

MODULE = re.compile(r"^\d+\. `(\w+)`")
CMAKE_MODULES = re.compile(r"^set\(proca_modules ([\w ]+)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TORCH_FREE = ("core", "config", "data", "protocol")
TORCH_FOLDERS = ("torch", "ATen", "c10", "caffe2")
SUFFIXES = (".h", ".cuh", ".cpp", ".cu", ".in")
MOST_FILES = 25


def read_modules(root):
    lines = (root / "src" / "README.md").read_text(encoding="utf-8").splitlines()
    return [match.group(1) for match in map(MODULE.match, lines) if match]


def source_files(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def check_include(path, module, is_public, quote, name, modules):
    """What is wrong with `#include name` in the file `path` of `module`, or None."""
    parts = name.split("/")
    if ".." in parts:
        return f'"{name}" climbs out of its folder'
    is_installed = parts[0] == "proca"
    other = parts[1] if is_installed else parts[0]
    if is_installed and other not in modules:
        return f"{name} is of no module that src/README.md lists"
    if quote == '"' and is_public and not is_installed:
        return f'a public header includes "{name}", which is not installed'
    if quote == '"' and other in modules:
        if modules.index(other) > modules.index(module):
            return f"{module} includes {name}, but {other} comes after {module} in src/README.md"
    elif parts[0] in TORCH_FOLDERS and module in TORCH_FREE:
        return f"{module} includes <{name}>, but has to do without LibTorch"
    elif name == "torch/torch.h" and is_public:
        return "a public header includes <torch/torch.h>; <torch/types.h> or one module's header will do"
    return None


def check_folder(root, folder, modules, is_public):
    for path in source_files(root / folder):
        shown = path.relative_to(root).as_posix()
        module = path.relative_to(root / folder).parts[0]
        if module not in modules:
            yield f"{shown}:1: lies in no module that src/README.md lists"
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            include = INCLUDE.match(line)
            if include:
                problem = check_include(path, module, is_public, *include.groups(), modules)
                if problem:
                    yield f"{shown}:{number}: {problem}"


def check_sizes(root, folder):
    for path in sorted({file.parent for file in source_files(root / folder)}):
        count = sum(1 for file in path.iterdir() if file.suffix in SUFFIXES)
        if count > MOST_FILES:
            yield f"{path.relative_to(root).as_posix()}:1: has {count} files; {MOST_FILES} are allowed"


def check(root):
    """All violations below `root`, as "file:line: what"."""
    modules = read_modules(root)
    if not modules:
        return ["src/README.md:1: lists no modules (lines such as \"1. `core`: errors\")"]
    problems = []
    cmake = (root / "src" / "CMakeLists.txt").read_text(encoding="utf-8")
    built = CMAKE_MODULES.search(cmake)
    if not built or built.group(1).split() != modules:
        line = cmake[: built.start()].count("\n") + 1 if built else 1
        problems.append(f"src/CMakeLists.txt:{line}: proca_modules is not the list of src/README.md")
    problems += check_folder(root, "src", modules, is_public=False)
    problems += check_folder(root, "include/proca", modules, is_public=True)
    for folder in ("src", "include/proca", "apps"):
        problems += check_sizes(root, folder)
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
