"""What pytorch_proca.py works on: a source model of `proca`, a task of a preset, and its
images. The decisions are those of `proca run`, so that both programs do the same."""

import concurrent.futures
import json
import math
import multiprocessing
import pathlib

import numpy
import torch
from PIL import Image

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16,
          "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32, "U8": torch.uint8}
EXTENSIONS = {".jpg", ".jpeg", ".png", ".webp"}


def read_safetensors(path):
    """Name -> tensor. Length of the header, header in JSON, then the numbers."""
    data = bytearray(pathlib.Path(path).read_bytes())
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:8 + length].decode()).items():
        if name == "__metadata__":
            continue
        tensors[name] = torch.frombuffer(
            data, dtype=DTYPES[entry["dtype"]], count=math.prod(entry["shape"]),
            offset=8 + length + entry["data_offsets"][0]).reshape(entry["shape"])
    return tensors


def read_model(state):
    """The source model of a state directory: (description, weights)."""
    state = pathlib.Path(state)
    model = json.loads((state / "state.json").read_text())["model"]
    if model.get("neck"):
        raise SystemExit(f"{state}: the model has layers that this program does not know")
    return model, read_safetensors(state / "source.safetensors")


def read_preset(path):
    try:
        import tomllib
    except ImportError:  # Python before 3.11
        import tomli as tomllib
    return tomllib.loads(pathlib.Path(path).read_text())


def settings_of(preset, source, target):
    """The options that the preset gives ProCA, those for the task last."""
    own = preset.get("for", {}).get("proca", {})
    tables = [preset.get("adapt", {}), preset.get("method", {}), own, own.get(source, {}),
              own.get("*", {}).get(target, {}), own.get(source, {}).get(target, {})]
    return {key: value for table in tables for key, value in table.items()
            if not isinstance(value, dict)}


def find_domain(preset, kind, domain, root):
    places = preset.get(kind, {}).get(domain) or preset.get("domains", {}).get(domain) or domain
    for place in [places] if isinstance(places, str) else places:
        if (pathlib.Path(root) / place).exists():
            return pathlib.Path(root) / place
    raise SystemExit(f"the images of {domain} are not in {root}")


def list_images(place, root, class_names):
    """(paths, labels) of a folder with one folder per class, or of a list file."""
    if place.is_file():
        words = [line.rsplit(None, 1) for line in place.read_text().splitlines() if line.strip()]
        return [str(pathlib.Path(root) / path) for path, _ in words], [int(y) for _, y in words]
    paths, labels = [], []
    for label, name in enumerate(class_names):
        found = sorted(str(path) for path in (place / name).rglob("*")
                       if path.suffix.lower() in EXTENSIONS)
        paths += found
        labels += [label] * len(found)
    return paths, labels


def step_classes(preset, source, target, class_names):
    """Labels of the classes that arrive at each step."""
    task = {**preset, **preset.get("task", {}).get(source, {}).get(target, {})}
    order = task.get("class-order") or list(range(len(class_names)))
    labels = [class_names.index(word) if word in class_names else int(word) for word in order]
    size = task["classes-per-step"]
    return [labels[i * size:(i + 1) * size] for i in range(task["steps"])]


def _decode(job):
    """Decodes one image straight into the shared memory."""
    pixels, index, path, resize, crop = job
    image = Image.open(path).convert("RGB")
    if image.size != (resize, resize):
        image = image.resize((resize, resize), Image.BILINEAR)
    start = (resize - crop) // 2
    pixels[index] = torch.from_numpy(
        numpy.array(image)[start:start + crop, start:start + crop])


def _start_worker(shared):
    global _shared
    _shared = shared
    torch.set_num_threads(1)


def _decode_some(jobs):
    for job in jobs:
        _decode((_shared,) + job)


def decode(paths, preprocessing, workers):
    """uint8 [N, size, size, 3], decoded by so many processes."""
    crop = preprocessing["image_size"]
    resize = preprocessing["resize"] or crop
    if preprocessing["resize_mode"] != "exact":
        raise SystemExit("only models that resize both sides to the same size are known")
    pixels = torch.empty(len(paths), crop, crop, 3, dtype=torch.uint8).share_memory_()
    jobs = [(i, path, resize, crop) for i, path in enumerate(paths)]
    size = max(1, min(32, len(jobs) // (4 * workers)))
    chunks = [jobs[i:i + size] for i in range(0, len(jobs), size)]
    # Forked before the GPU is touched, so that the workers start at once.
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(workers, context, _start_worker,
                                                (pixels,)) as pool:
        for _ in pool.map(_decode_some, chunks):
            pass
    return pixels
