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

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "skipped: node and npm are needed to run ONNX Runtime"
  exit 77
fi

mkdir -p "$folder"
if [[ ! -d $folder/node_modules/onnxruntime-node ]]; then
  # The package carries its Linux libraries; its install script would only
  # download those for GPUs.
  if ! (cd "$folder" && npm install --ignore-scripts --no-audit --no-fund --prefix . \
          onnxruntime-node@1 >npm.log 2>&1); then
    cat "$folder/npm.log"
    echo "skipped: npm could not fetch onnxruntime-node"
    exit 77
  fi
fi

"$sample" "$folder"
node "$here/run_onnx.mjs" "$folder"
