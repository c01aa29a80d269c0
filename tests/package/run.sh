#!/usr/bin/env bash
# Makes the Debian packages and looks into them; then at packages that are wrong.
#
#   run.sh BUILD_FOLDER WORK_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
work=$2
rm -rf "$work"
mkdir -p "$work"

cpack --config "$build/CPackConfig.cmake" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$work" >/dev/null
tools/check_package_files.sh "$work"/proca_*.deb "$work"/libproca-dev_*.deb
depends=$(dpkg-deb -f "$work"/proca_*.deb Depends)
for package in libopenblas0-pthread libtorch; do
  grep -q "$package" <<<"$depends" || { echo "proca does not depend on $package: $depends"; exit 1; }
done
grep -q libtorch-dev <<<"$(dpkg-deb -f "$work"/libproca-dev_*.deb Depends)"

# package NAME FILE...: an otherwise empty package with these files.
package() {
  local name=$1 file
  shift
  rm -rf "$work/bad"
  mkdir -p "$work/bad/DEBIAN"
  printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: n\nDescription: d\n' "$name" \
    >"$work/bad/DEBIAN/control"
  for file; do mkdir -p "$work/bad/$(dirname "$file")" && touch "$work/bad/$file"; done
  dpkg-deb --root-owner-group --build "$work/bad" "$work/bad.deb" >/dev/null
}

# refused MESSAGE: the package is, with this message among those about it.
refused() {
  local output
  if output=$(tools/check_package_files.sh "$work/bad.deb" 2>&1) || ! grep -qF "$1" <<<"$output"; then
    echo "expected \"$1\" about a bad package, not: $output"
    exit 1
  fi
}

package proca usr/bin/proca
refused "usr/share/man/man1/proca.1.gz is missing"
package libproca-dev usr/lib/libproca.a opt/proca/x.h
refused "opt/proca/x.h is in a strange place"
package stranger usr/bin/proca
refused "is neither proca nor libproca-dev"
rm -rf "$work"
