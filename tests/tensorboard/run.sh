#!/usr/bin/env bash
# Trains a little with --tensorboard and reads the event files with other people's code.
#
#   run.sh PROGRAM FOLDER
#
# Exit 77: skipped, because the Python modules it needs are not there. Debian's Python has
# them as packages, another one that comes first on the PATH need not.
set -euo pipefail
program=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)

python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import crcmod, google.protobuf, PIL' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [[ -z $python ]]; then
  echo "skipped: Python's crcmod, protobuf and PIL are needed"
  exit 77
fi

rm -rf "$folder"
mkdir -p "$folder"
"$program" data make-demo --source-per-class 4 --target-per-class 4 --out "$folder/images" --quiet
"$program" run --method proca --preset demo --data-root "$folder/images" --source sketch --target photo \
  --pretrain-epochs 2 --epochs 2 --out "$folder/run" --tensorboard "$folder/tb" --no-report --quiet \
  > /dev/null
exec "$python" "$here/check.py" "$folder"
