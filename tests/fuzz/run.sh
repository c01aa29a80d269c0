#!/usr/bin/env bash
# Runs the fuzz targets, one after the other, over their corpus and then with mutations of it.
#
#   run.sh FOLDER SECONDS [TARGET...]        (default: all targets)
#
# With SECONDS = 0 there are no mutations: the corpus alone, which is the same every time.
# FOLDER has the programs <target>_fuzz. What is found is left there: new inputs in
# found/<target>, inputs that break something in broken/, a log per target in logs/.
# Exit status 1 when a target breaks.
set -euo pipefail
folder=$1
seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in "$here"/*_fuzz.cpp; do targets+=("$(basename "$source" _fuzz.cpp)"); done
fi

dictionary_of() {
  case $1 in
    events | manifest | results) echo json ;;
    pth_*) echo pickle ;;
    *) echo "$1" ;;
  esac
}

# One computing thread: LibTorch's others would only wait.
export OMP_NUM_THREADS=1
mkdir -p "$folder/logs" "$folder/broken"
status=0
for target in "${targets[@]}"; do
  mkdir -p "$folder/found/$target"
  # No input needs a second, or an allocation of 64 MiB.
  limit=-max_total_time=$seconds
  if [ "$seconds" -eq 0 ]; then limit=-runs=0; fi
  options=("$limit" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 -max_len=8192
    -print_final_stats=1 -artifact_prefix="$folder/broken/$target-")
  dictionary=$here/$(dictionary_of "$target").dict
  if [ -e "$dictionary" ]; then options+=(-dict="$dictionary"); fi
  log=$folder/logs/$target.log
  if "$folder/${target}_fuzz" "${options[@]}" "$folder/found/$target" "$here/corpus/$target" >"$log" 2>&1; then
    printf '%-12s %s\n' "$target" "$(grep -a DONE "$log" | tail -n 1 | tr '\t' ' ')"
  else
    status=1
    printf '%-12s broken, see %s:\n' "$target" "$log"
    grep -a -A 12 -m 1 -E 'ERROR|runtime error|does not hold|libFuzzer: ' "$log" || tail -n 12 "$log"
  fi
done
exit $status
