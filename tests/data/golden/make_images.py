"""Writes the encoded images and the expected pixels for decode_test.cpp,
resize_test.cpp and crop_test.cpp.

    /usr/bin/python3 make_images.py

Made with Pillow 9.4.0 (libjpeg-turbo 2.1.5, libwebp 1.2.4), torchvision 0.14.1
and numpy 1.24. Files written beside this script:

* images/<name>.<ext>: an encoded image; images/<name>.<ext>.rgb: the bytes of
  Pillow's convert("RGB").
* transforms.txt: one line per case, `operation source-width source-height
  arguments... : width height`; transforms.bin: the resulting bytes, one case
  after the other. Source pixels are given by `pattern` below.
"""

import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image
from torchvision.transforms import functional as F

HERE = pathlib.Path(__file__).parent
IMAGES = HERE / "images"
WIDTH, HEIGHT = 23, 17


def pattern(width, height):
    """Noise that C++ computes too: the top byte of i * 2654435761 mod 2^32."""
    i = np.arange(width * height * 3, dtype=np.uint64)
    values = (i * np.uint64(2654435761) % np.uint64(2**32)) >> np.uint64(24)
    return Image.fromarray(values.astype(np.uint8).reshape(height, width, 3))


def scene():
    """A smooth picture with one hard edge, so that lossy files stay small."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    red = 255 * x / (WIDTH - 1)
    green = 255 * y / (HEIGHT - 1)
    blue = 127 + 120 * np.sin(x / 3 + y / 5)
    pixels = np.stack([red, green, blue], axis=-1).astype(np.uint8)
    pixels[4:9, 6:14] = [250, 20, 60]
    return pixels


def encoded(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


# --- JPEG ---------------------------------------------------------------------


def adobe_segment(transform):
    return b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + bytes([transform])


def jpegs():
    rgb = Image.fromarray(scene())
    grey = rgb.convert("L")
    cmyk = Image.merge("CMYK", (*(b.point(lambda v: 255 - v) for b in rgb.split()), grey))
    full = encoded(rgb, "JPEG", quality=90, subsampling=0)
    four = encoded(cmyk, "JPEG", quality=90)
    assert full[2:4] == b"\xff\xe0" and four.count(b"Adobe") == 1
    jfif_end = 4 + struct.unpack(">H", full[4:6])[0]
    transform_at = four.index(b"Adobe") + 11
    return {
        "grey": encoded(grey, "JPEG", quality=90),
        "rgb_444": full,
        "rgb_422": encoded(rgb, "JPEG", quality=85, subsampling=1),
        "rgb_420": encoded(rgb, "JPEG", quality=80, subsampling=2),
        "progressive": encoded(rgb, "JPEG", quality=80, progressive=True),
        "optimised": encoded(rgb, "JPEG", quality=30, optimize=True),
        # The same samples, read without the conversion from YCbCr.
        "no_transform": full[:2] + adobe_segment(0) + full[jfif_end:],
        "cmyk": four,
        "ycck": four[:transform_at] + b"\x02" + four[transform_at + 1 :],
        "trailing_bytes": encoded(rgb, "JPEG", quality=80) + b"something else",
        # Orientation 6 asks for a turn by 90 degrees, which convert() does not do.
        "rotated_by_exif": encoded(rgb, "JPEG", quality=80, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01"
                                   b"\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"),
    }


# --- PNG ----------------------------------------------------------------------


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(samples, bits):
    """Filter byte 0 and samples of `bits` bits, for every row of [H, W, C]."""
    rows = b""
    for row in samples:
        flat = row.reshape(-1)
        if bits == 16:
            rows += b"\0" + flat.astype(">u2").tobytes()
        else:
            each = np.unpackbits(flat.astype(np.uint8)[:, None], axis=1)[:, 8 - bits :]
            rows += b"\0" + np.packbits(each.reshape(-1)).tobytes()
    return rows


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2)]


def png(samples, bits, colour, before_data=b"", interlaced=False):
    if samples.ndim == 2:
        samples = samples[:, :, None]
    if interlaced:
        passes = [samples[y::dy, x::dx] for x, y, dx, dy in ADAM7]
        rows = b"".join(packed_rows(part, bits) for part in passes if part.size)
    else:
        rows = packed_rows(samples, bits)
    header = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], bits, colour, 0, 0,
                         int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before_data +
            chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def pngs():
    rgb = scene()
    grey = rgb[:, :, 0]
    alpha = np.arange(grey.size).reshape(grey.shape) % 256
    deep = rgb.astype(np.uint16) * 256 + 255 - rgb  # low and high bytes differ
    # Around 255, where 16-bit grey is clipped.
    deep_grey = np.arange(grey.size).reshape(grey.shape)
    files = {}
    for bits in (1, 2, 4, 8):
        files[f"grey_{bits}"] = png(grey >> (8 - bits), bits, 0)
        palette = (np.arange(3 << bits) * 37 % 256).astype(np.uint8).tobytes()
        files[f"palette_{bits}"] = png(grey >> (8 - bits), bits, 3, chunk(b"PLTE", palette))
    few = chunk(b"PLTE", bytes([10, 20, 30, 40, 50, 60]))
    clear = chunk(b"tRNS", bytes([0, 128]))
    files |= {
        "palette_transparent": png(grey >> 7, 8, 3, few + clear),
        "palette_too_short": png(grey, 8, 3, few),
        "grey_transparent": png(grey, 8, 0, chunk(b"tRNS", b"\0\x50")),
        "rgb_transparent": png(rgb, 8, 2, chunk(b"tRNS", b"\0\xfa\0\x14\0\x3c")),
        "grey_16": png(deep_grey, 16, 0),
        "grey_alpha": png(np.dstack([grey, alpha]), 8, 4),
        "grey_alpha_16": png(np.dstack([deep[:, :, 0], alpha * 256]), 16, 4),
        "rgb": encoded(Image.fromarray(rgb), "PNG"),  # with row filters
        "rgb_16": png(deep, 16, 2),
        "rgba": png(np.dstack([rgb, alpha]), 8, 6),
        "rgba_16": png(np.dstack([deep, alpha * 256]), 16, 6),
        "interlaced_rgb": png(rgb, 8, 2, interlaced=True),
        "interlaced_palette_4": png(grey >> 4, 4, 3, chunk(b"PLTE", bytes(range(48))),
                                    interlaced=True),
        "interlaced_grey_1": png(grey >> 7, 1, 0, interlaced=True),
        "gamma": png(rgb, 8, 2, chunk(b"gAMA", struct.pack(">I", 100000))),
    }
    return files


# --- WebP ---------------------------------------------------------------------


def webps():
    rgb = scene()
    alpha = (np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) % 256).astype(np.uint8)
    opaque = Image.fromarray(rgb)
    clear = Image.fromarray(np.dstack([rgb, alpha]), "RGBA")
    return {
        "lossy": encoded(opaque, "WEBP", quality=80),
        "lossless": encoded(opaque, "WEBP", lossless=True),
        "lossy_alpha": encoded(clear, "WEBP", quality=80, exact=True),
        "lossless_alpha": encoded(clear, "WEBP", lossless=True, exact=True),
    }


def animated_webp():
    frames = [Image.fromarray(scene()), Image.fromarray(255 - scene())]
    return encoded(frames[0], "WEBP", quality=20, save_all=True, append_images=frames[1:])


# --- Transforms ---------------------------------------------------------------

RESIZES = [
    (23, 17, 11, 8), (23, 17, 31, 25), (23, 17, 1, 1), (23, 17, 24, 18), (23, 17, 22, 16),
    (23, 17, 23, 5), (23, 17, 7, 17), (23, 17, 23, 17), (23, 17, 3, 40), (23, 17, 60, 1),
    (23, 17, 1, 50), (1, 1, 5, 4), (1, 9, 3, 2), (9, 1, 2, 3), (2, 2, 7, 7), (300, 3, 224, 2),
    (3, 300, 2, 224), (1000, 2, 7, 3), (2, 1000, 3, 7), (5, 5, 1, 1), (257, 9, 16, 9),
    (640, 2, 224, 2), (64, 48, 24, 24), (33, 48, 14, 31), (3001, 1, 2, 1),
]
SHORTER_SIDES = [(23, 17, 8), (17, 23, 8), (17, 17, 9), (30, 20, 20), (320, 31, 7), (7, 13, 20)]
CENTRE_CROPS = [(23, 17, 16), (23, 17, 12), (17, 23, 15), (20, 20, 20), (19, 13, 10)]
RESIZED_CROPS = [(23, 17, 0, 0, 23, 17, 9, 9), (23, 17, 3, 2, 11, 13, 16, 16),
                 (40, 30, 20, 10, 20, 20, 8, 8), (40, 30, 39, 29, 1, 1, 3, 3)]


def transforms():
    for *size, width, height in RESIZES:
        yield "resize", (*size, width, height), pattern(*size).resize((width, height),
                                                                      Image.BILINEAR)
    for *size, side in SHORTER_SIDES:
        yield "shorter_side", (*size, side), F.resize(pattern(*size), side)
    for *size, side in CENTRE_CROPS:
        yield "centre_crop", (*size, side), F.center_crop(pattern(*size), side)
    for *size, left, top, width, height, out_width, out_height in RESIZED_CROPS:
        yield ("resized_crop", (*size, left, top, width, height, out_width, out_height),
               F.resized_crop(pattern(*size), top, left, height, width, (out_height, out_width)))


def main():
    IMAGES.mkdir(exist_ok=True)
    for extension, files in {"jpg": jpegs(), "png": pngs(), "webp": webps()}.items():
        for name, data in files.items():
            path = IMAGES / f"{name}.{extension}"
            path.write_bytes(data)
            pixels = Image.open(path).convert("RGB").tobytes()
            path.with_suffix(path.suffix + ".rgb").write_bytes(pixels)
    (HERE / "animated.webp").write_bytes(animated_webp())

    lines, results = [], b""
    for operation, arguments, image in transforms():
        words = " ".join(str(a) for a in arguments)
        lines.append(f"{operation} {words} : {image.width} {image.height}\n")
        results += image.tobytes()
    (HERE / "transforms.txt").write_text("".join(lines))
    (HERE / "transforms.bin").write_bytes(results)


if __name__ == "__main__":
    main()
