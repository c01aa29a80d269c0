#!/usr/bin/env bash
# Tries the Debian packages out on a Debian 12 that has nothing else: installs them with apt,
# runs the program and its demo, and builds examples/consumer against the library.
#
#   make package && tools/check_package.sh [FILE.deb...]     (default: build/packages/*.deb)
#
# The system is made by mmdebstrap in a temporary folder, from the mirrors and with the
# settings that apt has on this machine, and is gone afterwards. Takes root, about 3 GB of
# disk below $TMPDIR and, apart from the downloads, a few minutes.
#
# Exit status: 0 all well, 1 something failed, 2 something is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v mmdebstrap >/dev/null; then
  echo "tools/check_package.sh: mmdebstrap is missing (on Debian: apt-get install mmdebstrap)" >&2
  exit 2
fi
packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then packages=(build/packages/*.deb); fi
for package in "${packages[@]}"; do
  if [ ! -e "$package" ]; then
    echo "tools/check_package.sh: $package: no such file; make package makes it" >&2
    exit 2
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bring/packages"
cp "${packages[@]}" "$work/bring/packages"
cp -r examples/consumer "$work/bring/consumer"
# How this machine reaches its mirrors (proxies and the like), and which they are.
apt-config dump | grep '^Acquire::' >"$work/apt.conf" || true
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  if [ -e "$file" ]; then cat "$file" && echo; fi
done >"$work/sources"

cat >"$work/bring/check.sh" <<'END'
#!/bin/sh
# Runs inside the bare system.
set -eux
export DEBIAN_FRONTEND=noninteractive
cd /bring
apt-get install -y --no-install-recommends ./packages/proca_*.deb
proca --version
ldd /usr/bin/proca | grep "not found" && exit 1
# The BLAS must be the fast one.
readlink -f "$(ldconfig -p | sed -n 's/.*libblas\.so\.3 .*=> //p' | head -n 1)" | grep openblas
test -s /usr/share/bash-completion/completions/proca
proca demo --quiet --out demo
apt-get install -y --no-install-recommends ./packages/libproca-dev_*.deb cmake g++ make
cmake -S consumer -B build
cmake --build build
./build/consumer
apt-get purge -y proca libproca-dev
test ! -e /usr/bin/proca
test ! -e /usr/lib/libproca.a
echo "the packages are well"
END
chmod +x "$work/bring/check.sh"

# An empty target: only what happens in the hook counts.
mmdebstrap --variant=apt --aptopt="$work/apt.conf" \
  --customize-hook="copy-in $work/bring /" \
  --customize-hook='chroot "$1" /bring/check.sh' \
  bookworm /dev/null "$work/sources"
