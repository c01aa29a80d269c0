#!/usr/bin/env bash
# Runs the tests under AddressSanitizer and UndefinedBehaviorSanitizer (preset asan), those
# with threads of ours under ThreadSanitizer (preset tsan), those of the readers under
# valgrind (preset release).
#
#   tools/sanitize.sh [asan|tsan|valgrind] [MODULE...]      (default: all three, all modules)
#
# Prints one line per run; the logs are in build/sanitize. Exit status 1 when one found
# something.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
shift || true
asan_modules=(core data losses models adaptation methods protocol report engine cli)
if [ $# -gt 0 ]; then asan_modules=("$@"); fi
logs=$PWD/build/sanitize
mkdir -p "$logs"
status=0

# check NAME COMMAND...: runs the command, keeps what it says, and says how it went.
check() {
  local log=$logs/$1.log
  local name=$1
  shift
  if "$@" >"$log" 2>&1; then
    echo "$name: clean, $(grep -a -o '[0-9]* tests from' "$log" | tail -n 1 | cut -d' ' -f1) tests"
  else
    status=1
    echo "$name: see $log"
  fi
}

tests_of() {  # preset, test binaries
  tools/configure.sh "$1" tests >/dev/null
  cmake --build "build/$1" --target "${@:2}"
}

run_asan() {
  tests_of asan "${asan_modules[@]/%/_tests}"
  export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  for module in "${asan_modules[@]}"; do
    check "asan-$module" "build/asan/tests/${module}_tests"
  done
}

# Loaders, stores, queues and pools. The computing threads of LibTorch are not built for it.
run_tsan() {
  # The one left out ends a child through the sanitizer, which writes what the parent had
  # still to write into the child's log.
  local engine='JobPool*:SaveQueue*:FrozenCache*:-*AProgramThatIsNotThereIsAFailure'
  export TSAN_OPTIONS=suppressions=$PWD/tests/tsan.supp:halt_on_error=1 OMP_NUM_THREADS=1
  tests_of tsan data_tests
  check tsan-data build/tsan/tests/data_tests
  tests_of tsan engine_tests
  check tsan-engine build/tsan/tests/engine_tests --gtest_filter="$engine"
}

run_valgrind() {
  tests_of release data_tests models_tests
  local valgrind=(valgrind --quiet --error-exitcode=9 --leak-check=no --suppressions=tests/valgrind.supp)
  check valgrind-data "${valgrind[@]}" build/release/tests/data_tests \
    --gtest_filter='*ListFile*:PackedFile*:Decode*:ReadImage*:*GoldenImage*'
  # Without those that are about millions of values or thousands of files.
  OMP_NUM_THREADS=1 check valgrind-models "${valgrind[@]}" build/release/tests/models_tests \
    --gtest_filter='Safetensors*:Pth*:WeightFile*:*Golden*:-*ThanAllowed'
}

case $what in
  asan) run_asan ;;
  tsan) run_tsan ;;
  valgrind) run_valgrind ;;
  all)
    run_asan
    run_tsan
    run_valgrind
    ;;
  *)
    echo "usage: tools/sanitize.sh [asan|tsan|valgrind] [MODULE...]" >&2
    exit 2
    ;;
esac
exit $status
