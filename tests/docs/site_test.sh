#!/usr/bin/env bash
# Can the documentation be built without a warning, and do its links lead somewhere?
#
#   site_test.sh PROGRAM FOLDER
#
# Exit status 77, which CTest takes as "skipped", where a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! PROCA_NO_APT=1 tools/dependencies.sh docs; then exit 77; fi
tools/docs.sh "$1" "$2"
tools/check_links.py "$2"
for page in index commands/adapt commands/options docs/guide/days api/index; do
  test -s "$2/$page.html"
done
grep -q -- '--discard-unfinished' "$2/commands/adapt.html"
grep -q 'prototype_contrastive_loss' -r "$2/api" --include='*.html'
