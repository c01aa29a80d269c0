#!/usr/bin/env bash
# Fetches an npm package for a test, once.
#
#   npm_package.sh FOLDER PACKAGE@VERSION
#
# It is then in FOLDER/node_modules. Install scripts are not run: they would download
# what the tests do not need. Exit 77, the status of a skipped test: node, npm or the
# package is not to be had on this machine.
set -euo pipefail
folder=$1
package=$2

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  echo "skipped: node and npm are needed"
  exit 77
fi

mkdir -p "$folder"
if [[ ! -d $folder/node_modules/${package%@*} ]]; then
  if ! (cd "$folder" && npm install --ignore-scripts --no-audit --no-fund --prefix . \
          "$package" >npm.log 2>&1); then
    cat "$folder/npm.log"
    echo "skipped: npm could not fetch ${package%@*}"
    exit 77
  fi
fi
