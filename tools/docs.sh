#!/usr/bin/env bash
# Builds the documentation: a searchable site that needs no server.
#
#   tools/docs.sh PROGRAM FOLDER          ("make docs": into build/docs)
#
# The pages are those of docs/ and a few of the root, laid out as in the repository so that
# their links hold, and a page per command that the program writes itself. The API reference
# is Doxygen's, from the public headers. Any warning of Sphinx is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "$1")
out=$2
source=$out-source
rm -rf "$source" "$out"
mkdir -p "$source/src" "$out/api"
source=$(realpath "$source")

cp -r docs "$source/docs"
cp docs/site/index.md "$source/index.md"
cp CONTRIBUTING.md CHANGELOG.md SECURITY.md "$source"
cp src/README.md "$source/src"
# What pages link to is offered as a file.
cp -r benchmarks "$source"  # measurements are pages
for folder in include examples presets tools tests; do ln -s "$PWD/$folder" "$source/$folder"; done
for folder in src/*/; do ln -s "$PWD/$folder" "$source/src/"; done
python3 docs/site/command_pages.py "$program" "$source/commands"
cat >"$source/api.md" <<'END'
# API reference

<a href="api/index.html">The public headers</a>, as Doxygen shows them. [From C++](docs/guide/cpp.md) has whole examples.
END

sphinx-build -q -W --keep-going -b html -c docs/site "$source" "$out"
version=$(sed -n 's/^project(proca VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
{ cat docs/site/Doxyfile; echo "OUTPUT_DIRECTORY = $out/api"; echo "PROJECT_NUMBER = $version"; } |
  doxygen - 2>"$out-doxygen.log"
# Doxygen links to the list of nested classes also where all are private and there is none.
grep -L 'id="nested-classes"\|name="nested-classes"' "$out"/api/*.html |
  xargs sed -i 's|<a href="#nested-classes">Classes</a> &#124;||'
echo "$out/index.html"
