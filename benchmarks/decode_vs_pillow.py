"""Decoding and resizing a folder of images: `proca bench decode` against Pillow.

    python3 benchmarks/decode_vs_pillow.py DATA_FOLDER PROCA_PROGRAM

Both read every image below the folder, convert it to RGB and resize it to a
square with the antialiased bilinear filter; proca in threads, Pillow in as many
processes. The two take turns, so that a change in the load of the machine hits
both. Starting up (the pool, the program) is not counted. Prints images per
second of every round, the medians, their spread and the ratio.
"""

import argparse
import json
import multiprocessing
import pathlib
import statistics
import subprocess
import time

from PIL import Image, __version__ as pillow_version

EXTENSIONS = {".jpg", ".jpeg", ".png", ".webp"}


def decode(task):
    path, size = task
    Image.open(path).convert("RGB").resize((size, size), Image.BILINEAR)


def pillow_images_per_s(pool, paths, size):
    start = time.perf_counter()
    tasks = ((path, size) for path in paths)
    count = sum(1 for _ in pool.imap_unordered(decode, tasks, chunksize=16))
    return count / (time.perf_counter() - start)


def proca_images_per_s(program, folder, size, workers):
    command = [program, "bench", "decode", folder, "--image-size", str(size), "--threads",
               str(workers), "--repeats", "1", "--json"]
    result = subprocess.run([str(word) for word in command], check=True, capture_output=True,
                            text=True)
    return json.loads(result.stdout)["images_per_s"]


def summary(name, rates):
    return (f"{name:>8}: median {statistics.median(rates):8.1f} images/s, "
            f"from {min(rates):.1f} to {max(rates):.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--workers", type=int, default=2, help="threads and processes")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()

    paths = sorted(str(path) for path in args.folder.rglob("*")
                   if path.suffix.lower() in EXTENSIONS)
    if not paths:
        parser.error(f"{args.folder}: holds no images")
    print(f"{len(paths)} images, {args.image_size} pixels, {args.workers} workers, "
          f"Pillow {pillow_version}")

    ours, theirs = [], []
    with multiprocessing.Pool(args.workers) as pool:
        # The first pass also brings the files into the memory of the system.
        pillow_images_per_s(pool, paths, args.image_size)
        for i in range(args.rounds):
            ours.append(proca_images_per_s(args.program, args.folder, args.image_size,
                                           args.workers))
            theirs.append(pillow_images_per_s(pool, paths, args.image_size))
            print(f"round {i + 1}: proca {ours[-1]:.1f}, Pillow {theirs[-1]:.1f} images/s")
    print(summary("proca", ours))
    print(summary("Pillow", theirs))
    print(f"proca is {statistics.median(ours) / statistics.median(theirs):.2f} times as fast")


if __name__ == "__main__":
    main()
