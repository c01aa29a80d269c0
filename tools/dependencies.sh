#!/usr/bin/env bash
# Finds out what a build lacks and installs it.
#
#   tools/dependencies.sh [build|test|sanitize|docs|package|format|tidy]     (default: build)
#
# Looks for what is used (a command, a header, a library), not for packages, so
# that a machine which has them from elsewhere is left alone: headers below the
# folders of CMAKE_PREFIX_PATH or CPATH count, and so does the LibTorch of the
# active Python. What is missing is installed with one apt-get call, as root or
# through sudo.
#
#   build    compiler, CMake, LibTorch, the libraries; and, where they can be had,
#            WebP, TIFF, GIF, cairo, ONNX and Chart.js, without which a feature is left out
#   test     the above, those of docs and package, GoogleTest, Python with torchvision and
#            what reads event files, clang-format, Node.js, chromium, zsh, man, clang
#   sanitize build, GoogleTest, valgrind
#   docs     build, Sphinx with MyST and the theme Furo, Doxygen
#   package  build, and what finds out on which packages a program depends
#   format   clang-format
#   tidy     build and clang-tidy
#
# PROCA_NO_APT=1 only says what is missing.
# Exit status: 0 ready, 2 something that is needed is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

group=${1:-build}
missing_needed=()   # "thing|package", the build cannot do without
missing_wanted=()   # "thing|package", a feature or some speed is lost

have() { command -v "$1" >/dev/null 2>&1; }
need() { missing_needed+=("$1|$2"); }
want() { missing_wanted+=("$1|$2"); }

need_command() { have "$1" || need "$1" "$2"; }
want_command() { have "$1" || want "$1" "$2"; }

# --- Headers -----------------------------------------------------------------

# "need|want  package  headers, all of them"; one compiler run answers for all.
header_table=()
header() { header_table+=("$*"); }

folders_of_prefix_path() { tr ':;' '\n\n' <<<"${CMAKE_PREFIX_PATH:-}" | sed '/^$/d'; }

probe_headers() {
  if ! have g++; then
    for row in "${header_table[@]}"; do
      set -- $row
      "$1" "$3" "$2"
    done
    return
  fi
  local flags=() folder row index answers
  while read -r folder; do flags+=("-I$folder/include"); done < <(folders_of_prefix_path)
  answers=$(
    for index in "${!header_table[@]}"; do
      set -- ${header_table[$index]}
      shift 2
      printf '#if !(__has_include(<%s>)' "$1"
      shift
      for name; do printf ' && __has_include(<%s>)' "$name"; done
      printf ')\nmissing %s\n#endif\n' "$index"
    done | g++ -std=c++17 -E -P -x c++ "${flags[@]}" - | sed -n 's/^missing //p'
  )
  for index in $answers; do
    set -- ${header_table[$index]}
    "$1" "$3" "$2"
  done
}

# --- LibTorch ----------------------------------------------------------------

# Where it comes from, in the order of cmake/ProcaDependencies.cmake.
torch_origin() {
  local folder place
  while read -r folder; do
    for place in "$folder" "$folder"/{share,lib,lib/*-linux-gnu}/cmake; do
      [ -e "$place/Torch/TorchConfig.cmake" ] && echo prefix-path && return
    done
  done < <(folders_of_prefix_path)
  if have python3 && [ -n "$(python3 tools/python_torch.py 2>/dev/null)" ]; then
    echo python
  else
    echo system
  fi
}

# --- Groups ------------------------------------------------------------------

probe_build() {
  need_command g++ g++
  need_command cmake cmake
  need_command ninja ninja-build
  want_command ccache ccache
  want_command mold mold
  want_command pkg-config pkg-config
  want_command git git
  header need libtomlplusplus-dev toml++/toml.h
  header need nlohmann-json3-dev nlohmann/json.hpp
  header need libspdlog-dev spdlog/spdlog.h
  header need libfmt-dev fmt/format.h
  header need libjpeg-dev jpeglib.h
  header need libpng-dev png.h
  header need zlib1g-dev zlib.h
  header want libwebp-dev webp/decode.h
  header want libtiff-dev tiffio.h
  header want libgif-dev gif_lib.h
  header want libcairo2-dev cairo/cairo.h
  header want libonnx-dev onnx/onnx_pb.h
  header want libprotobuf-dev google/protobuf/message.h
  # What reports draw their charts with.
  [ -e /usr/share/javascript/chart.js/chart.min.js ] || want chart.js libjs-chart.js
  if [ "$(torch_origin)" = system ]; then
    # Without it one process cannot train together with others on CPUs.
    header want libgloo-dev gloo/config.h
    header need libtorch-dev torch/csrc/api/include/torch/types.h
    # Without it Debian's LibTorch falls back to a BLAS fifty times slower.
    # (ldconfig is not on every user's PATH; grep -q would end it with a signal.)
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep libopenblas >/dev/null ||
      want libopenblas libopenblas0-pthread
  fi
}

probe_clang_format() {
  have clang-format-14 || have clang-format || "$1" clang-format clang-format
}

probe_docs() {
  have sphinx-build || "$1" sphinx-build python3-sphinx
  sphinx_can_import myst_parser || "$1" myst_parser python3-myst-parser
  sphinx_can_import furo || "$1" furo furo
  have doxygen || "$1" doxygen doxygen
}

# Where clang keeps what -fsanitize=fuzzer links.
has_fuzzer_library() {
  have clang++ && compgen -G "$(clang++ -print-runtime-dir)/libclang_rt.fuzzer-*" >/dev/null
}

# Tests look for modules where Debian puts them, too.
python_can_import() {
  python3 -c "import $1" 2>/dev/null || /usr/bin/python3 -c "import $1" 2>/dev/null
}

# The active Python need not be the one that Sphinx runs on.
sphinx_can_import() {
  local program python
  program=$(command -v sphinx-build) || return 1
  python=$(sed -n '1s/^#! *//p' "$program")
  $python -c "import $1" 2>/dev/null
}

probe() {
  missing_needed=() missing_wanted=() header_table=()
  case $group in
    build) probe_build ;;
    test)
      probe_build
      header need libgtest-dev gtest/gtest.h
      need_command python3 python3
      probe_clang_format want
      # Distributions of Node.js other than Debian's bring npm along.
      if ! have node; then want node nodejs; fi
      if ! have npm; then want npm npm; fi
      python_can_import crcmod || want crcmod python3-crcmod
      python_can_import google.protobuf || want protobuf python3-protobuf
      python_can_import PIL || want PIL python3-pil
      python_can_import torchvision || want torchvision python3-torchvision
      probe_docs want
      want_command dpkg-shlibdeps dpkg-dev
      want_command file file
      have chromium || have chromium-browser || have google-chrome || want chromium chromium
      want_command zsh zsh
      want_command man man-db
      want_command clang++ clang
      has_fuzzer_library || want libFuzzer libclang-rt-14-dev
      ;;
    sanitize)
      probe_build
      header need libgtest-dev gtest/gtest.h
      need_command valgrind valgrind
      ;;
    docs)
      probe_build
      probe_docs need
      ;;
    package)
      probe_build
      need_command dpkg-shlibdeps dpkg-dev
      need_command file file
      ;;
    format) probe_clang_format need ;;
    tidy)
      probe_build
      need_command clang-tidy clang-tidy
      ;;
    *)
      echo "tools/dependencies.sh: $group is not one of build, test, sanitize, docs, package, format, tidy" >&2
      exit 2
      ;;
  esac
  if [ ${#header_table[@]} -gt 0 ]; then probe_headers; fi
}

all_missing() { printf '%s\n' "${missing_needed[@]}" "${missing_wanted[@]}" | sed '/^$/d'; }

report() {
  local entry
  for entry in "${missing_needed[@]}"; do
    echo "missing: ${entry%|*} (package ${entry#*|})"
  done
  for entry in "${missing_wanted[@]}"; do
    echo "missing: ${entry%|*} (package ${entry#*|}; can be done without)"
  done
}

finish() {
  if [ ${#missing_needed[@]} -gt 0 ]; then
    local packages
    packages=$(printf '%s\n' "${missing_needed[@]#*|}" | sort -u | tr '\n' ' ')
    echo "proca: $1; install what is missing (on Debian: apt-get install ${packages% })" >&2
    exit 2
  fi
  exit 0
}

# --- Installation ------------------------------------------------------------

probe
if [ -z "$(all_missing)" ]; then exit 0; fi

# What apt-get could not give last time and is not needed is not asked for again.
tried=build/dependencies-tried
if [ ${#missing_needed[@]} -eq 0 ] && [ -e "$tried" ] && [ "$(all_missing)" = "$(cat "$tried")" ]; then
  exit 0
fi

report
if [ "${PROCA_NO_APT:-0}" = 1 ]; then finish "PROCA_NO_APT is set"; fi
if ! have apt-get; then finish "there is no apt-get here"; fi
root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! have sudo; then finish "installing packages takes root or sudo"; fi
  root=(sudo)
fi

"${root[@]}" apt-get update || true   # The lists already here may do.
packages=()
for package in $(all_missing | sed 's/.*|//' | sort -u); do
  # One name that apt does not know would stop all the others.
  if apt-cache show "$package" >/dev/null 2>&1; then
    packages+=("$package")
  else
    echo "proca: apt does not know $package"
  fi
done
if [ ${#packages[@]} -gt 0 ]; then
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${packages[@]}" || true
    # What CMake found missing may be there now: let it look again.
    rm -f build/*/build.ninja
fi

hash -r
probe
mkdir -p build
all_missing >"$tried"
report
finish "apt-get could not provide everything"
