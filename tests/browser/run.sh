#!/usr/bin/env bash
# Opens report pages in a real browser.
#
#   run.sh FOLDER [NAME...]
#
# Runs all tests, or those of NAME_test.mjs. FOLDER keeps the npm package between runs, and
# afterwards the pages and their screenshots. The pages are made by assemble.mjs; PROCA_PROGRAM is
# the program that must make the same; PROCA_CHART_LIBRARY is where chart.min.js lies, if not where Debian
# has it. Exit 77: skipped, because something is not to be had on this machine.
set -euo pipefail
folder=$1
shift
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  echo "skipped: $1"
  exit 77
}

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "there is no chromium"
library=${PROCA_CHART_LIBRARY:-/usr/share/javascript/chart.js/chart.min.js}
[[ -e $library ]] || skip "there is no $library (package libjs-chart.js)"
# The last that runs on the Node.js of Debian 12.
"$here/../support/npm_package.sh" "$folder" playwright-core@1.61

export PROCA_BROWSER=$chromium PROCA_BROWSER_FOLDER=$folder PROCA_CHART_LIBRARY=$library
export PROCA_BROWSER_TESTS=$*
exec node --test "$here/all.mjs"
