#!/usr/bin/python3
"""Writes the seeds of the fuzz targets: small valid files of every kind.

    tests/fuzz/make_corpus.py        (Debian's python3 with torch and PIL)

They lie in corpus/<target>/ under a name of their own. What fuzzing has added beside them
is named by its hash, as libFuzzer does, and is left alone.
"""
import io
import json
import struct
import zlib
from pathlib import Path

import torch
from PIL import Image

FOLDER = Path(__file__).parent / "corpus"


def write(target, name, content):
    path = FOLDER / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def picture(mode="RGB", size=(5, 3)):
    image = Image.new("RGB", size)
    image.putdata([((x * 50) % 256, (y * 80) % 256, 128) for y in range(size[1]) for x in range(size[0])])
    return image.convert(mode)


def encoded(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def pictures():
    for mode in ("L", "RGB", "CMYK"):
        write("jpeg", f"{mode.lower()}.jpg", encoded(picture(mode), "JPEG"))
    write("jpeg", "progressive.jpg", encoded(picture(size=(17, 9)), "JPEG", progressive=True))
    write("jpeg", "subsampled.jpg", encoded(picture(size=(20, 20)), "JPEG", subsampling=2, quality=5))
    for mode in ("1", "L", "P", "LA", "RGB", "RGBA"):
        write("png", f"{mode.lower()}.png", encoded(picture(mode), "PNG"))
    write("png", "deep_grey.png", encoded(Image.new("I;16", (4, 2), 700), "PNG"))
    write("png", "four_colours.png", encoded(picture().quantize(4), "PNG", bits=2))
    write("png", "interlaced.png", interlaced_png())
    # Of what fuzzing has found, what has a name: chunks that claim more than there is.
    for kind in (b"sPLT", b"eXIf"):
        whole = encoded(picture("L"), "PNG")
        write("png", f"huge_{kind.decode().lower()}.png", whole[:33] + struct.pack(">I", 1 << 30) + kind + whole[33:])
    write("webp", "lossy.webp", encoded(picture(), "WEBP", quality=10))
    write("webp", "lossless.webp", encoded(picture(), "WEBP", lossless=True))
    write("webp", "alpha.webp", encoded(picture("RGBA"), "WEBP", quality=10))
    turned = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    write("jpeg", "turned.jpg", encoded(picture(), "JPEG", exif=turned))
    write("png", "turned.png", encoded(picture("L"), "PNG", exif=turned[6:]))
    write("webp", "turned.webp", encoded(picture(), "WEBP", quality=10, exif=turned))
    for mode in ("1", "L", "P", "RGB"):
        write("bmp", f"{mode.lower()}.bmp", encoded(picture(mode), "BMP"))
    write("bmp", "masks.bmp", masked_bmp())
    for mode in ("1", "L", "P", "RGB", "RGBA", "CMYK"):
        write("tiff", f"{mode.lower()}.tif", encoded(picture(mode), "TIFF"))
    for kind in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
        write("tiff", f"{kind}.tif", encoded(picture(), "TIFF", compression=kind))
    write("tiff", "group4.tif", encoded(picture("1"), "TIFF", compression="group4"))
    write("tiff", "deep_grey.tif", encoded(Image.new("I;16", (4, 2), 700), "TIFF"))
    write("gif", "palette.gif", encoded(picture().quantize(4), "GIF", interlace=0))
    write("gif", "interlaced.gif", encoded(picture("L"), "GIF", interlace=1))
    write("gif", "transparent.gif", encoded(picture().quantize(4), "GIF", transparency=1))
    frames = [picture(size=(4, 4)), Image.new("RGB", (4, 4), "red")]
    write("gif", "animated.gif", encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    write("webp", "animated.webp", encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:]))


def masked_bmp():
    """Two pixels of 16 bits, five, six and five of them for the colours."""
    header = struct.pack("<IiiHHIIiiII", 40, 2, 1, 1, 16, 3, 4, 0, 0, 0, 0)
    masks = struct.pack("<III", 0xF800, 0x07E0, 0x001F)
    return struct.pack("<2sIHHI", b"BM", 70, 0, 0, 66) + header + masks + struct.pack("<HH", 0xF800, 0x07E0)


def interlaced_png():
    """One grey pixel in Adam7: a row of the first pass, and none of the others."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 1)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\x80"))
            + chunk(b"IEND", b""))


def packed(images, labels, class_names, meaning):
    """Without the zeros between header and images, and without checksums: the target adds both."""
    start = 4096
    body, index = b"", b""
    for (data, width, height, encoding), label in zip(images, labels):
        index += struct.pack("<QQIIIIq", start + len(body), len(data), width, height, encoding, 0, label)
        body += data
    text = json.dumps({"class_names": class_names, "label_meaning": meaning,
                       "paths": [f"{i}.png" for i in range(len(images))]}).encode()
    header = struct.pack("<8sIIQQQQIIII", b"PROCAPAK", 1, 0, len(images), start + len(body),
                         start + len(body) + len(index), len(text), 0, 0, 0, 0)
    return header + body + index + text


def packed_files():
    pixels = (bytes(range(12)), 2, 2, 0)
    image = (encoded(picture(), "PNG"), 0, 0, 1)
    write("packed", "pixels.pack", packed([pixels, pixels], [0, 1], ["cat", "dog"], "name"))
    write("packed", "files.pack", packed([image], [-1], [], "number"))


def weights():
    tensors = {"layer.weight": torch.arange(6.0).reshape(2, 3), "layer.bias": torch.zeros(2),
               "steps": torch.tensor(3)}
    for name, value in (("plain", tensors), ("checkpoint", {"epoch": 1, "state_dict": tensors}),
                        ("views", {"a": tensors["layer.weight"].t(), "b": tensors["layer.weight"][0]}),
                        ("kinds", {k: torch.ones(2, dtype=getattr(torch, k)) for k in
                                   ("float64", "float16", "bfloat16", "int32", "int8", "uint8", "bool")})):
        for target, zipped in (("pth_zip", True), ("pth_stream", False)):
            buffer = io.BytesIO()
            torch.save(value, buffer, _use_new_zipfile_serialization=zipped)
            write(target, f"{name}.pth", buffer.getvalue())

    def safetensors(header, data):
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + data

    write("safetensors", "empty.safetensors", safetensors({}, b""))
    write("safetensors", "two.safetensors", safetensors(
        {"__metadata__": {"backbone": "resnet18"},
         "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
         "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [8, 11]}}, b"\0\0\x80\x3f\0\0\0\0\1\0\1"))
    kinds = {"F64": 8, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1}
    header, end = {}, 0
    for kind, size in kinds.items():
        header[kind] = {"dtype": kind, "shape": [1], "data_offsets": [end, end + size]}
        end += size
    write("safetensors", "kinds.safetensors", safetensors(header, bytes(end)))
    write("safetensors", "no_elements.safetensors", safetensors(
        {"a": {"dtype": "F32", "shape": [0, 7], "data_offsets": [0, 0]}}, b""))


def texts():
    write("list", "labelled.txt", "cat/1.png 0\ndog/2.png 1\n")
    write("list", "unlabelled.txt", "\ufeffa b.png\r\n\r\n  ../c.png \n")
    write("list", "large_label.txt", "x.png 999999\n")
    write("list", "two_marks.txt", "\ufeff\ufeffa.png\nb.png\n")
    write("list", "outside.txt", "../a.png\n../../b.png\n")
    write("list", "names.csv", 'path,label\na.jpg,cat\n"b, c.png","dog, small"\n')
    write("list", "gaps.txt", "7/x.png 3\n/abs/y.png\t12\n./z.png 3\n")

    write("toml", "config.toml", '[adapt]\nlr = 1e-3 # rate\nepochs = 1_000\nflip = true\nname = "a\\u00e9\\n"\n')
    write("toml", "digit_behind_string.toml", 'a = ["x", "y"2]\nb = "z"0\n')
    write("toml", "every_value.toml", 'a = {b = 1.5, "c d" = -inf}\nk = """x\ny"""\nh = 0xff\nd = 2020-01-02\n[[t]]\n')
    write("toml", "preset.toml", 'summary = "s"\nclasses-per-step = 3\nsteps = 2\nclass-order = ["a", "b"]\n'
          '[domains]\nart = ["art", "art.txt"]\n[sources]\nclip = ["c"]\n[task.art.clip]\nsteps = 1\n'
          '[pretrain]\nlr = 0.1\n[for.dann]\nlr = 1\n[for.dann."*".art]\nlr = 2\n')
    write("toml", "experiment.toml", "title = 't'\npaper = 'Table 1'\npreset = 'demo'\nview = 'tasks'\n"
          "metrics = ['final',\n  'final-s1', # two\n]\nseeds = [0, 1]\n[tasks]\n\"A->B\" = ['a', 'b']\n"
          "[options]\nepochs = 2\n[run.DANN]\nmethod = 'dann'\n[sweep]\nmethod = 'proca'\neta = [0.1, 1]\n")

    start = {"time": "2024-01-01T00:00:00Z", "event": "start", "device": "cpu", "threads": 2, "libtorch": "1.13"}
    epoch = {"time": "2024-01-01T00:00:01Z", "event": "adapt_epoch", "step": 1, "epoch": 1,
             "loss.source": 0.5, "loss.target": 1e-3, "images_per_s": 10.5, "seconds": 1, "data_s": 0}
    step = {"time": "2024-01-01T00:00:02Z", "event": "step", "step": 1, "images": 12, "seconds": 2.5,
            "peak_memory_bytes": 4096, "peak_gpu_memory_bytes": 0}
    log = "".join(json.dumps(event) + "\n" for event in (start, epoch, dict(epoch, **{"loss.other": 1}), step))
    write("events", "sure.jsonl", "\xff".encode("latin-1") + log.encode())
    write("events", "cut.jsonl", b"\x20" + log.encode()[:-9])

    model = {"backbone": "resnet-small", "stride_in": "3x3", "neck": "linear 4, relu", "class_names": ["a", "b"],
             "preprocessing": {"image_size": 32, "resize": 0, "resize_mode": "exact",
                               "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]}}
    first = {"format_version": 1, "phase": "pretraining", "epoch": 1, "step": 0, "model": model,
             "source": "sketch", "source_root": "", "config_digest": "dabffb65", "events_bytes": 10, "files": {}}
    second = dict(first, format_version=2, phase="ready", step=2, method="proca", adapted_classes=[0],
                  step_digest="702bc852", adapting={"epoch": 1, "iteration": 2, "digest": "0"},
                  files={"adapt.toml": {"size": 1, "crc32": 2}})
    write("manifest", "huge_numbers.json", json.dumps(dict(second, step=1e300, epoch=2**64)))
    write("manifest", "pretraining.json", json.dumps(first))
    write("manifest", "ready.json", json.dumps(second))

    tally = {"images": 4, "correct": 2, "accuracy_percent": 50}
    found = {"detected": 1, "present": 3, "right": 1, "recall_percent": 33, "precision_percent": 100}
    shares = ("accuracy", "s1_accuracy", "s1_accuracy_rounded", "accuracy_drop", "relative_accuracy_drop")
    step = dict({f"{name}_percent": 12.5 for name in shares}, step=1, group_accuracy_percent=[10, None],
                detection=found, pseudo_labels=tally)
    whole = ("final_accuracy", "mean_accuracy", "final_s1_accuracy", "mean_s1_accuracy", "forgetting",
             "backward_transfer", "mean_recall", "mean_precision", "pseudo_label_accuracy")
    write("results", "metrics_of_run.json", json.dumps(dict(
        {f"{name}_percent": 12.5 for name in whole}, source_group_accuracy_percent=[1], steps=[step])))
    write("results", "metrics_of_step.json", json.dumps(dict(
        tally, classes=[{"label": 0, "class": "a", "images": 4, "correct": 2}],
        confusion=[[0, 0, 2], [0, 1, 2]], detection=found, pseudo_labels=tally)))
    write("results", "detection.json", json.dumps(
        {"rule": "hbw", "threshold": 0.5, "detected": [0],
         "classes": [{"label": 0, "cumulative_probability": 0.7}]}))
    write("results", "deep.json", "[" * 200)
    write("results", "run.toml", "steps = 2\n# step 1: classes 0, 3\n# step 2: classes 1\n")


if __name__ == "__main__":
    pictures()
    packed_files()
    weights()
    texts()
