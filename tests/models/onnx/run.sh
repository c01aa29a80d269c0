#!/usr/bin/env bash
# Exports models with `sample` and runs them in ONNX Runtime.
#
#   run.sh SAMPLE FOLDER
#
# FOLDER keeps the npm package between runs. Exit 77: skipped, because node or
# the package is not to be had on this machine.
set -euo pipefail
sample=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)

"$here/../../support/npm_package.sh" "$folder" onnxruntime-node@1
"$sample" "$folder"
node "$here/run_onnx.mjs" "$folder"
