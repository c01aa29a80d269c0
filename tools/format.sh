#!/usr/bin/env bash
# Formats the project's C++ files, or checks that they are formatted.
#
#   tools/format.sh --in-place | --check
#
# clang-format's output changes between versions; Debian 12's, 14, decides.
# Exit status of --check: 0 formatted, 1 not (each place is shown), 77 when that
# version is not here.
set -euo pipefail
cd "$(dirname "$0")/.."

version=14
tool=
for candidate in clang-format-$version clang-format; do
  if "$candidate" --version 2>/dev/null | grep "version $version\." >/dev/null; then
    tool=$candidate
    break
  fi
done
if [ -z "$tool" ]; then
  echo "clang-format $version is not installed" >&2
  exit 77
fi

# Of a checkout the files git knows or could come to know, of an archive all.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' | while read -r file; do
      if [ -e "$file" ]; then echo "$file"; fi
    done
  else
    find include src apps tests examples \( -name '*.h' -o -name '*.cpp' \)
  fi
}

case ${1:-} in
  --in-place) files | xargs -r "$tool" -i ;;
  --check) files | xargs -r "$tool" --dry-run --Werror || exit 1 ;;
  *)
    echo "usage: tools/format.sh --in-place | --check" >&2
    exit 2
    ;;
esac
