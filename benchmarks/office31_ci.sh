#!/usr/bin/env bash
# Office-31-CI with ProCA and source-only: the runs behind the tables of
# docs/results.md. What is finished is not repeated, so it may be stopped and
# started again.
#
#   benchmarks/office31_ci.sh PROGRAM DATA WEIGHTS OUT [WHAT...]
#
# DATA holds amazon, dslr and webcam; WEIGHTS is a ResNet-50 trained on ImageNet.
# WHAT is any of: models source-only paper authors-code detection (default: all).
#   SEEDS="0 1 2"   JOBS=4 (runs at a time)   THREADS=4 (CPU threads per run)
set -euo pipefail
program=$1 data=$2 weights=$3 out=$4
shift 4
what=${*:-models source-only paper authors-code detection}
seeds=${SEEDS:-0 1 2}
export program data weights out
export threads=${THREADS:-4}

# Twenty epochs for amazon, forty for the small domains.
pretrain() {
  local domain=$1 seed=$2 epochs=40
  if [ "$domain" = amazon ]; then epochs=20; fi
  "$program" pretrain --source "$data/$domain/images" --backbone resnet50 --weights "$weights" \
    --epochs $epochs --seed "$seed" --threads "$threads" --quiet --out "$out/models/$domain-$seed"
}
# run FOLDER SOURCE TARGET SEED [option...]
run() {
  local folder=$1 source=$2 target=$3 seed=$4
  shift 4
  "$program" run --preset office31-ci --data-root "$data" --source "$source" --target "$target" \
    --source-state "$out/models/$source-$seed" --seed "$seed" --threads "$threads" --quiet \
    --out "$out/$folder/$source-$target-$seed" "$@" >/dev/null
}
export -f pretrain run

jobs_of() {
  local pair seed rule
  for seed in $seeds; do
    if [ "$1" = models ]; then
      for domain in amazon webcam dslr; do echo "pretrain $domain $seed"; done
      continue
    fi
    for pair in "webcam amazon" "dslr amazon" "amazon webcam" "dslr webcam" "amazon dslr" "webcam dslr"; do
      case $1 in
        source-only) echo "run source-only $pair $seed --method source-only" ;;
        census) echo "run census $pair $seed --method census" ;;
        paper | authors-code) echo "run $1 $pair $seed --method proca --variant $1" ;;
        detection)
          for rule in none hbw label-shift; do
            echo "run detection-$rule $pair $seed --method proca --variant ${VARIANT:-paper} --detection $rule"
          done
          echo "run detection-hbw-mass $pair $seed --method proca --variant ${VARIANT:-paper} --detection hbw --hbw-weights mass"
          ;;
      esac
    done
  done
}

for part in $what; do
  jobs_of "$part" | xargs -P "${JOBS:-4}" -d '\n' -I JOB bash -c 'JOB'
done
