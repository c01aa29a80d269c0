"""Writes the encoded images and the expected pixels for decode_test.cpp,
resize_test.cpp and crop_test.cpp.

    /usr/bin/python3 make_images.py

Made with Pillow 9.4.0 (libjpeg-turbo 2.1.5, libwebp 1.2.4, libtiff 4.5.0), torchvision 0.14.1
and numpy 1.24. Files written beside this script:

* images/<name>.<ext>: an encoded image; images/<name>.<ext>.rgb: the bytes of
  Pillow's convert("RGB"), or where Pillow clips 16-bit grey, the high byte of each sample.
* orientation/<n>.jpg, .rgb: a picture with EXIF orientation n, and Pillow's exif_transpose of it;
  6.png, 6.webp and 6.tif the same for other formats.
* broken/<name>.<ext>: files that must be refused.
* transforms.txt: one line per case, `operation source-width source-height
  arguments... : width height`; transforms.bin: the resulting bytes, one case
  after the other. Source pixels are given by `pattern` below.
"""

import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image, ImageOps
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
    # Below 255 as well, where Pillow does not clip 16-bit grey.
    deep_grey = np.arange(grey.size).reshape(grey.shape) * 167
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


# --- BMP ------------------------------------------------------------------------


def bmp(samples, bits, header=40, palette=b"", masks=None, top_down=False):
    """Rows of little-endian pixels of `bits` bits, for [H, W]."""
    rows = b""
    for row in samples if top_down else samples[::-1]:
        if bits < 8:
            each = np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, 8 - bits :]
            line = np.packbits(each.reshape(-1)).tobytes()
        else:
            line = b"".join(int(v).to_bytes(bits // 8, "little") for v in row)
        rows += line + b"\0" * (-len(line) % 4)
    height, width = samples.shape
    if header == 12:
        about = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        about = struct.pack("<IiiHHIIiiII", header, width, -height if top_down else height, 1, bits,
                            3 if masks else 0, len(rows), 2835, 2835, len(palette) // 4, 0)
        about += struct.pack("<III", *masks) if masks else b""
        about += b"\0" * (header - len(about))
    offset = 14 + len(about) + len(palette)
    return struct.pack("<2sIHHI", b"BM", offset + len(rows), 0, 0, offset) + about + palette + rows


def bmps():
    rgb = scene().astype(np.uint32)
    grey = scene()[:, :, 0]
    true = rgb[:, :, 0] << 16 | rgb[:, :, 1] << 8 | rgb[:, :, 2]
    five = (rgb[:, :, 0] >> 3) << 10 | (rgb[:, :, 1] >> 3) << 5 | rgb[:, :, 2] >> 3
    six = (rgb[:, :, 0] >> 3) << 11 | (rgb[:, :, 1] >> 2) << 5 | rgb[:, :, 2] >> 3
    palettes = {bits: b"".join(bytes([i * 37 % 256, i * 91 % 256, i * 53 % 256, 0])
                               for i in range(1 << bits)) for bits in (1, 4, 8)}
    files = {f"palette_{bits}": bmp(grey >> (8 - bits), bits, palette=palettes[bits])
             for bits in (1, 4, 8)}
    three = b"".join(palettes[4][i : i + 3] for i in range(0, 64, 4))
    return files | {
        "palette_core": bmp(grey >> 4, 4, header=12, palette=three),
        "rgb_24": bmp(true, 24),
        "rgb_24_top_down": bmp(true, 24, top_down=True),
        "rgb_32": bmp(true, 32),
        "rgb_15": bmp(five, 16),
        "rgb_16": bmp(six, 16, header=108, masks=(0xF800, 0x07E0, 0x001F)),
    }


# --- TIFF and GIF -----------------------------------------------------------------


def tiffs():
    rgb = Image.fromarray(scene())
    alpha = Image.fromarray((np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) % 256).astype(np.uint8))
    deep = (np.arange(WIDTH * HEIGHT).reshape(HEIGHT, WIDTH) * 167).astype(np.uint16)
    return {
        "rgb": encoded(rgb, "TIFF"),
        "rgb_lzw": encoded(rgb, "TIFF", compression="tiff_lzw"),
        "rgb_deflate": encoded(rgb, "TIFF", compression="tiff_adobe_deflate"),
        "rgb_packbits": encoded(rgb, "TIFF", compression="packbits"),
        "rgba": encoded(Image.merge("RGBA", (*rgb.split(), alpha)), "TIFF"),
        "grey": encoded(rgb.convert("L"), "TIFF"),
        "grey_16": encoded(Image.fromarray(deep), "TIFF"),
        "palette": encoded(rgb.quantize(16), "TIFF"),
        "bilevel": encoded(rgb.convert("1"), "TIFF", compression="group4"),
    }


def picture_of(gif):
    """Where the first picture of a GIF begins, behind the palette and extensions."""
    at = 13 + (3 * 2 ** ((gif[10] & 7) + 1) if gif[10] & 0x80 else 0)
    while gif[at] == 0x21:
        at += 2
        while gif[at]:
            at += gif[at] + 1
        at += 1
    assert gif[at] == 0x2C
    return at


def with_frame_at(data, left, top, width, height):
    """Moves the picture of a GIF: it covers only a part of the screen."""
    at = picture_of(data)
    screen = data[:6] + struct.pack("<HH", width, height) + data[10:at]
    return screen + b"\x2c" + struct.pack("<HH", left, top) + data[at + 5 :]


def gifs():
    rgb = Image.fromarray(scene())
    few = rgb.quantize(16)
    grey = rgb.convert("L")
    small = Image.fromarray(scene()[:9, :11]).quantize(8)
    frames = [few, Image.fromarray(255 - scene()).quantize(16)]
    return {
        "palette": encoded(few, "GIF", interlace=0),
        "interlaced": encoded(few, "GIF", interlace=1),
        "grey": encoded(grey, "GIF", interlace=0),
        "transparent": encoded(few, "GIF", interlace=0, transparency=3),
        "animated": encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        "part_of_the_screen": with_frame_at(encoded(small, "GIF", interlace=0), 5, 4, WIDTH, HEIGHT),
    }


# --- Orientation ------------------------------------------------------------------


def exif(orientation):
    return b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([orientation]) + b"\0\0" * 3


def write_orientations(folder):
    folder.mkdir(exist_ok=True)
    rgb = Image.fromarray(scene())
    files = {f"{n}.jpg": encoded(rgb, "JPEG", quality=90, exif=exif(n)) for n in range(1, 9)}
    files["6.png"] = encoded(rgb, "PNG", exif=exif(6)[6:])
    files["6.webp"] = encoded(rgb, "WEBP", lossless=True, exif=exif(6))
    files["6.tif"] = encoded(rgb, "TIFF", tiffinfo={274: 6})
    for name, data in files.items():
        path = folder / name
        path.write_bytes(data)
        # Pillow turns TIFF by itself, while it decodes.
        image = Image.open(path)
        turned = (image if name == "6.tif" else ImageOps.exif_transpose(image)).convert("RGB")
        path.with_suffix(path.suffix + ".rgb").write_bytes(turned.tobytes())


# --- Files to refuse --------------------------------------------------------------


def tiff_of(entries, data=b""):
    """A little-endian TIFF of (tag, type, count, value)."""
    body = b"".join(struct.pack("<HHII", *entry) for entry in sorted(entries))
    return b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + body + b"\0\0\0\0" + data


def plain_tiff(**changes):
    tags = {"width": (256, 3, 1, 4), "height": (257, 3, 1, 4), "bits": (258, 3, 1, 8),
            "codec": (259, 3, 1, 1), "colours": (262, 3, 1, 1), "offset": (273, 4, 1, 122),
            "samples": (277, 3, 1, 1), "rows": (278, 3, 1, 4), "bytes": (279, 4, 1, 16)}
    for name, value in changes.items():
        tags[name] = (*tags[name][:3], value)
    return tiff_of([t for t in tags.values() if t[3] is not None], bytes(range(16)))


def broken():
    good = bmp(np.zeros((4, 4), np.uint32), 24)
    def patched(data, offset, new):
        return data[:offset] + new + data[offset + len(new) :]
    eight = bmp(np.zeros((4, 4), np.uint32), 8, palette=bytes(8))
    gif = encoded(Image.fromarray(scene()).quantize(16), "GIF", interlace=0)
    picture = picture_of(gif)
    return {
        # BMP
        "cut_header.bmp": good[:20],
        "cut_rows.bmp": good[:-1],
        "unknown_header.bmp": patched(good, 14, struct.pack("<I", 41000)),
        "no_width.bmp": patched(good, 18, struct.pack("<i", 0)),
        "negative_width.bmp": patched(good, 18, struct.pack("<i", -4)),
        "huge.bmp": patched(good, 18, struct.pack("<ii", 60000, 60000)),
        "rle.bmp": patched(eight, 30, struct.pack("<I", 1)),
        "unknown_bits.bmp": patched(good, 28, struct.pack("<H", 7)),
        "too_many_colours.bmp": patched(eight, 46, struct.pack("<I", 1 << 30)),
        "offset_beyond_the_end.bmp": patched(good, 10, struct.pack("<I", 1 << 31)),
        "masks_with_gaps.bmp": bmp(np.zeros((4, 4), np.uint32), 16, header=108, masks=(0x0505, 2, 1)),
        # GIF
        "only_header.gif": gif[:13],
        "no_picture.gif": gif[:picture] + b";",
        "cut_rows.gif": gif[:-20],
        "empty_picture.gif": patched(gif, picture + 5, struct.pack("<HH", 0, 4)),
        "huge.gif": patched(gif, picture + 5, struct.pack("<HH", 65535, 65535)),
        "bad_code_size.gif": patched(gif, picture + 10, b"\x0d"),
        # TIFF
        "no_directory.tif": b"II*\0\xff\xff\0\0",
        "no_size.tif": tiff_of([(258, 3, 1, 8)]),
        "empty.tif": plain_tiff(width=0),
        "huge.tif": plain_tiff(width=60000, height=60000),
        "too_short_for_its_rows.tif": plain_tiff(width=4000, height=4000),
        "strip_beyond_the_end.tif": plain_tiff(offset=4000),
        "rare_compression.tif": plain_tiff(codec=34676),
        "unknown_compression.tif": plain_tiff(codec=12345),
        "unknown_colours.tif": plain_tiff(colours=77),
    }


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
    kinds = {"jpg": jpegs(), "png": pngs(), "webp": webps(), "bmp": bmps(), "tif": tiffs(), "gif": gifs()}
    for extension, files in kinds.items():
        for name, data in files.items():
            path = IMAGES / f"{name}.{extension}"
            path.write_bytes(data)
            image = Image.open(path)
            if image.mode.startswith("I"):  # 16-bit grey
                high = (np.array(image).astype(np.uint32) >> 8).astype(np.uint8)
                image = Image.fromarray(high)
            pixels = image.convert("RGB").tobytes()
            path.with_suffix(path.suffix + ".rgb").write_bytes(pixels)
    write_orientations(HERE / "orientation")
    (HERE / "broken").mkdir(exist_ok=True)
    for name, data in broken().items():
        (HERE / "broken" / name).write_bytes(data)
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
