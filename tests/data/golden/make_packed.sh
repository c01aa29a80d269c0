#!/bin/sh
# Wrote packed_v1_pixels.procapack and packed_v1_files.procapack:
#
#   tests/data/golden/make_packed.sh build/release/apps/proca/proca
#
# Do not run it again: the files stand for what users packed with the first
# version, and every later one must read them. Needs Debian's python3-pil.
set -eu
program=$(realpath "$1")
golden=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir -p images/bike images/cup
/usr/bin/python3 - <<'PYTHON'
from PIL import Image

Image.new("RGB", (4, 4), (0, 128, 0)).save("images/bike/grüner.png")
Image.new("RGB", (2, 3), (255, 0, 0)).save("images/bike/red one.png")
Image.new("RGB", (3, 2), (10, 20, 30)).save("images/cup/a.png")
PYTHON
echo "images/cup/a.png 2" > list.txt

"$program" data pack images --keep pixels --image-size 2 --out "$golden/packed_v1_pixels.procapack"
"$program" data pack list.txt --keep files --out "$golden/packed_v1_files.procapack"
