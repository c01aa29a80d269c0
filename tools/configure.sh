#!/usr/bin/env bash
# Configures build/<preset> with CMake, unless that has been done already.
#
#   tools/configure.sh <preset> [tests]
#
# With "tests" the tests become part of the build; without it they stay as they
# are, so that "make build" after "make test" does not configure again. A change
# of what CMake would find (CMAKE_PREFIX_PATH, the active Python's torch, CXX)
# starts from scratch: a cache that mixes two LibTorches does not link.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
folder=build/$preset
stamp=$folder/configured-for
surroundings="CMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH:-}
python-torch=$(python3 tools/python_torch.py 2>/dev/null || true)
CXX=${CXX:-}"

arguments=(-DPROCA_BUILD_TESTS=$([ "${2:-}" = tests ] && echo ON || echo OFF))
if [ -e "$stamp" ] && [ "$(cat "$stamp")" != "$surroundings" ]; then
  echo "proca: what CMake would find has changed: configuring $folder afresh"
  arguments+=(--fresh)
elif [ -e "$folder/build.ninja" ]; then
  if [ "${2:-}" != tests ] || grep -q '^PROCA_BUILD_TESTS:BOOL=ON' "$folder/CMakeCache.txt"; then
    exit 0
  fi
fi
cmake --preset "$preset" "${arguments[@]}"
printf '%s\n' "$surroundings" >"$stamp"
