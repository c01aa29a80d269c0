#!/usr/bin/env bash
# Builds and runs the tests of GPU code, with the LibTorch of the active Python.
#
#   tools/gpu_tests.sh [GoogleTest's flags]
#
# GTEST_SOURCE names a folder with GoogleTest's sources where it is not installed
# (Debian's package googletest has them in /usr/src/googletest).
set -euo pipefail
cd "$(dirname "$0")/.."

folder=build/gpu-tests
prefix=${CMAKE_PREFIX_PATH:-$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')}
cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
  -DPROCA_BUILD_TESTS=ON -DPROCA_REQUIRE_CUDA=ON ${GTEST_SOURCE:+-DGTEST_SOURCE="$GTEST_SOURCE"}
cmake --build "$folder" --target gpu_tests --parallel "$(nproc)"
"$folder/tests/gpu_tests" "$@"
