#!/usr/bin/env bash
# Do the Debian packages hold what they should, where Debian wants it?
#
#   tools/check_package_files.sh FILE.deb...
#
# Exit status: 0 yes, 1 something is missing or is where it should not be.
set -euo pipefail

status=0
complain() {
  echo "$1" >&2
  status=1
}

for package in "$@"; do
  case $(dpkg-deb -f "$package" Package) in
    proca)
      expected="usr/bin/proca
usr/share/bash-completion/completions/proca
usr/share/doc/proca/changelog.gz
usr/share/doc/proca/copyright
usr/share/doc/proca/examples/proca-watch@.service
usr/share/man/man1/proca.1.gz
usr/share/zsh/vendor-completions/_proca" ;;
    libproca-dev)
      expected="usr/include/proca/config/options.h
usr/lib/cmake/proca/procaConfig.cmake
usr/lib/cmake/proca/procaConfigVersion.cmake
usr/lib/cmake/proca/procaTargets.cmake
usr/lib/libproca.a
usr/share/doc/libproca-dev/changelog.gz
usr/share/doc/libproca-dev/copyright" ;;
    *)
      complain "$package: is neither proca nor libproca-dev"
      continue ;;
  esac
  files=$(dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's|^\./||; /\/$/d')
  while read -r file; do
    grep -qxF "$file" <<<"$files" || complain "$package: $file is missing"
  done <<<"$expected"
  while read -r file; do
    case $file in
      usr/bin/proca|usr/include/proca/*.h|usr/lib/libproca.a|usr/lib/cmake/proca/*.cmake|usr/share/*) ;;
      *) complain "$package: $file is in a strange place" ;;
    esac
  done <<<"$files"
done
exit $status
