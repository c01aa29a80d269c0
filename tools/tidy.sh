#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the project's sources.
#
#   tools/tidy.sh <build folder> [changed|all]
#
# "changed" (the default) means: differs from the branch main, or is not committed.
# A source that includes LibTorch takes half a minute.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
database=$folder/compile_commands.json

known() { sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' "$database" | sort -u; }

changed() {
  local base
  base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  { git diff --name-only "$base"; git ls-files --others --exclude-standard; } |
    sed "s|^|$PWD/|" | sort -u
}

# GCC's precompiled headers and a few of its flags mean nothing to clang.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
sed -e 's/-Winvalid-pch//g' -e 's/-include [^ "]*cmake_pch\.hxx//g' -e 's/-fno-diagnostics-color//g' \
  "$database" >"$copy/compile_commands.json"

case ${2:-changed} in
  all) files=$(known) ;;
  changed) files=$(comm -12 <(known) <(changed)) ;;
  *)
    echo "usage: tools/tidy.sh <build folder> [changed|all]" >&2
    exit 2
    ;;
esac
files=$(grep -v "^$PWD/build/" <<<"$files" || true)
if [ -z "$files" ]; then
  echo "tidy: no source has changed"
  exit 0
fi
# Only what is said about our own files counts: clang takes LibTorch 1.13's headers
# for wrong C++20 (a std::vector of a type that is not complete yet) and recovers.
# A note belongs to the message before it.
xargs -r -n 1 -P "$(nproc)" clang-tidy --quiet --extra-arg=-ferror-limit=0 -p "$copy" \
  <<<"$files" >"$copy/messages" 2>"$copy/log" || [ $? -eq 123 ]  # 123: one of them found something
awk -v root="$PWD/" '
  /^\/[^:]*:[0-9]+:[0-9]+: (warning|error):/ {ours = index($0, root) == 1; found += ours}
  ours
  END {exit found > 0}' "$copy/messages"
echo "tidy: $(wc -l <<<"$files") files, nothing to say"
