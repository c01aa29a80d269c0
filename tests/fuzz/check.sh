#!/usr/bin/env bash
# Builds the fuzz targets (preset fuzz) and runs each of them.
#
#   check.sh FOLDER SECONDS [TARGET...]
#
# FOLDER is the build folder, SECONDS what a target gets beyond its corpus, 0 for nothing.
# Exit 77: skipped, because there is no clang with libFuzzer and the sanitizers.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)

empty='extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
if ! clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$folder/probe" <<<"$empty" 2>/dev/null; then
  echo "skipped: clang++ with libFuzzer is needed (packages clang and libclang-rt-14-dev)"
  exit 77
fi

cd "$here/../.."
if [ ! -e "$folder/build.ninja" ]; then cmake --preset fuzz -B "$folder" >"$folder/configure.log"; fi
cmake --build "$folder"
exec "$here/run.sh" "$folder/tests/fuzz" "$@"
