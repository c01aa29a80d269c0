#!/usr/bin/env python3
"""How well classes are detected and images labelled, by rule, on frozen source models.

A study for a machine without a GPU. Images are 112 pixels; of an ImageNet ResNet-50 (original
layout: stride 2 in the first convolution of a block) only the last stage and the classifier
are trained on the source, at the constant rates of `proca pretrain`. No target is trained on,
and labels serve the evaluation alone. Rules are those of docs/methods/census.md.

    /usr/bin/python3 detection_study.py WEIGHTS.safetensors OFFICE31 PACS CACHE

OFFICE31 holds amazon, dslr, webcam (with images/ or without), PACS holds art_painting, cartoon,
photo, sketch. CACHE keeps trained models and features.
"""

import json
import pathlib
import struct
import sys

import numpy as np
import torch
import torchvision
from PIL import Image

SIZE = 112
MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
STD = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
STEPS = {31: [range(0, 10), range(10, 20), range(20, 30)], 7: [range(0, 2), range(2, 4), range(4, 6)]}
# Sources of a benchmark and the epochs they are trained for; amazon takes too long on a CPU.
SOURCES = {"office31": {"dslr": 20, "webcam": 20}, "pacs": {"photo": 15, "sketch": 15, "cartoon": 15}}
TARGETS = {"office31": ["amazon", "dslr", "webcam"],
           "pacs": ["art_painting", "cartoon", "photo", "sketch"]}


# --- Features of a source model ------------------------------------------------------


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    types = {"F32": np.float32, "F16": np.float16, "I64": np.int64}
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        values = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


def network(weights, num_classes):
    model = torchvision.models.resnet50(num_classes=num_classes)
    for stage in (model.layer2, model.layer3, model.layer4):
        stage[0].conv1.stride, stage[0].conv2.stride = (2, 2), (1, 1)
    state = {name: tensor.float() if tensor.is_floating_point() else tensor
             for name, tensor in read_safetensors(weights).items() if not name.startswith("fc.")}
    model.load_state_dict(state, strict=False)
    return model.eval()


def images_of(folder):
    folder = folder / "images" if (folder / "images").is_dir() else folder
    pixels, labels = [], []
    for label, name in enumerate(sorted(entry.name for entry in folder.iterdir())):
        for file in sorted((folder / name).iterdir()):
            image = Image.open(file).convert("RGB").resize((SIZE, SIZE), Image.BILINEAR)
            pixels.append(np.asarray(image))
            labels.append(label)
    return np.stack(pixels), np.array(labels)


class Study:
    def __init__(self, weights, roots, cache):
        self.weights, self.roots, self.cache = weights, roots, cache
        cache.mkdir(parents=True, exist_ok=True)

    def maps(self, benchmark, domain):
        """What the last stage gets, half floats [N, H, W, C], and the labels."""
        file = self.cache / f"maps-{domain}.npz"
        if not file.exists():
            pixels, labels = images_of(self.roots[benchmark] / domain)
            model, parts = network(self.weights, 2), []
            with torch.no_grad():
                for begin in range(0, len(pixels), 64):
                    batch = torch.from_numpy(pixels[begin:begin + 64]).permute(0, 3, 1, 2).float()
                    x = model.maxpool(model.relu(model.bn1(model.conv1((batch / 255 - MEAN) / STD))))
                    x = model.layer3(model.layer2(model.layer1(x)))
                    parts.append(x.permute(0, 2, 3, 1).half().numpy())
            np.savez(file, maps=np.concatenate(parts), labels=labels)
        found = np.load(file)
        return found["maps"], found["labels"]

    def top(self, benchmark, source):
        """The last stage and the classifier, trained on the source."""
        maps, labels = self.maps(benchmark, source)
        torch.manual_seed(0)
        model = network(self.weights, int(labels.max()) + 1)
        top = torch.nn.ModuleDict({"stage": model.layer4, "fc": model.fc})
        file = self.cache / f"top-{source}.pt"
        if file.exists():
            top.load_state_dict(torch.load(file))
            return top.eval()
        order = np.random.default_rng(0)
        groups = [{"params": top["stage"].parameters(), "lr": 1e-3},
                  {"params": top["fc"].parameters(), "lr": 1e-2}]
        optimizer = torch.optim.SGD(groups, lr=1e-3, momentum=0.9, weight_decay=5e-4)
        top.train()
        for _ in range(SOURCES[benchmark][source]):
            for rows in np.array_split(order.permutation(len(labels)), len(labels) // 32):
                x = torch.from_numpy(maps[rows]).permute(0, 3, 1, 2).float()
                logits = top["fc"](top["stage"](x).mean((2, 3)))
                loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels[rows]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        torch.save(top.state_dict(), file)
        return top.eval()

    def outputs(self, benchmark, source, target):
        """Features and softmax of the source's model on the target, and the labels."""
        file = self.cache / f"outputs-{source}-{target}.npz"
        if not file.exists():
            maps, labels = self.maps(benchmark, target)
            top, features, logits = self.top(benchmark, source), [], []
            with torch.no_grad():
                for begin in range(0, len(maps), 128):
                    x = torch.from_numpy(maps[begin:begin + 128]).permute(0, 3, 1, 2).float()
                    features.append(top["stage"](x).mean((2, 3)))
                    logits.append(top["fc"](features[-1]))
            np.savez(file, features=torch.cat(features).double().numpy(), labels=labels,
                     probabilities=torch.softmax(torch.cat(logits).double(), 1).numpy())
        found = np.load(file)
        return found["features"], found["probabilities"], found["labels"]


# --- Rules ---------------------------------------------------------------------------


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def neighbour_average(features, values, count=3):
    cosines = unit(features) @ unit(features).T
    np.fill_diagonal(cosines, -2)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :count]
    return (values + values[nearest].sum(1)) / (count + 1)


def target_prior(probabilities, prior):
    shares = prior.copy()
    for _ in range(1000):
        rows = probabilities * (shares / np.where(prior > 0, prior, 1))
        updated = (rows / (rows.sum(1, keepdims=True) + 1e-300)).mean(0)
        if np.abs(updated - shares).max() < 1e-6:
            return updated
        shares = updated
    return shares


def cluster(features, weights, classes):
    """ProCA's two rounds."""
    points = unit(np.concatenate([features, np.ones((len(features), 1))], 1))
    weights = weights[:, classes]
    centres = weights.T @ points / (weights.sum(0)[:, None] + 1e-8)
    places = (points @ unit(centres).T).argmax(1)
    left = np.unique(places)
    centres = np.stack([points[places == place].mean(0) for place in left])
    return np.array(classes)[left[(points @ unit(centres).T).argmax(1)]]


def scd(alpha):
    def rule(features, probabilities, prior, memory):
        sums = probabilities.sum(0)
        scores = (sums - sums.min()) / (sums.max() - sums.min())
        classes = list(np.flatnonzero(scores >= alpha))
        return classes, cluster(features, probabilities, classes)
    return rule


def label_shift(features, probabilities, prior, memory):
    shares = target_prior(probabilities, prior)
    classes = list(np.flatnonzero(shares > 1 / len(prior))) or [int(shares.argmax())]
    return classes, cluster(features, probabilities, classes)


def cluster_mass(correction, once):
    """`once`: every class arrives in one step only."""
    def rule(features, probabilities, prior, memory):
        num_images, num_classes = probabilities.shape
        averages = np.log(neighbour_average(features, probabilities) + 1e-8)
        background = np.sort(averages, 0)[:max(1, num_images // 2)].mean(0)
        if "sums" in memory:
            background = (background * num_images + memory["sums"]) / (num_images + memory["counts"])
        logits = np.log(probabilities + 1e-8) - correction * background
        evidence = np.exp(logits - logits.max(1, keepdims=True))
        evidence = neighbour_average(features, evidence / evidence.sum(1, keepdims=True))
        factors = memory.setdefault("factors", np.ones(num_classes))
        if once:
            evidence = evidence * factors
            evidence /= evidence.sum(1, keepdims=True)
        classes = list(np.flatnonzero(target_prior(evidence, prior) > 0.1 / num_classes))
        while True:
            among = np.zeros_like(evidence)
            among[:, classes] = evidence[:, classes]
            among /= among.sum(1, keepdims=True) + 1e-300
            labels = cluster(features, among, classes)
            masses = np.array([among[labels == k, k].sum() for k in classes])
            if len(classes) == 1 or masses.min() >= 0.3 * masses.mean():
                break
            classes.pop(int(masses.argmin()))
        for k, mass in zip(classes, masses / masses.mean()):
            factors[k] = min(factors[k], 1 - min(1, mass) * 0.97)
        other = labels[:, None] != np.arange(num_classes)
        memory["sums"] = memory.get("sums", 0) + (averages * other).sum(0)
        memory["counts"] = memory.get("counts", 0) + other.sum(0)
        memory["confidence"] = among[np.arange(num_images), labels].mean()
        return classes, labels
    return rule


RULES = {"scd, alpha 0.15": scd(0.15), "scd, alpha 0.2": scd(0.2), "label-shift": label_shift}
for once in (False, True):
    for correction in (0, 0.5, 0.75, 1):
        words = f"cluster-mass, c = {correction}, classes {'new' if once else 'any'}"
        RULES[words] = cluster_mass(correction, once)


def tasks(study):
    """Of each task the benchmark, the source prior, and the target's outputs."""
    for benchmark, sources in SOURCES.items():
        for source in sources:
            own = study.outputs(benchmark, source, source)[2]
            for target in TARGETS[benchmark]:
                if target != source:
                    yield (benchmark, np.bincount(own) / len(own),
                           *study.outputs(benchmark, source, target))


def rank_correlation(one, other):
    return np.corrcoef(np.argsort(np.argsort(one)), np.argsort(np.argsort(other)))[0, 1]


def show_trust(study, once):
    """How well confidence (1 + stability) / 2 tells the share of right labels."""
    rows = []
    for benchmark, prior, features, probabilities, labels in tasks(study):
        memory = {}
        for step in STEPS[len(prior)]:
            chosen = np.isin(labels, list(step))
            before = {key: np.copy(value) for key, value in memory.items()}
            inputs = features[chosen], probabilities[chosen], prior
            _, found = cluster_mass(0.75, once)(*inputs, memory)
            _, other = cluster_mass(1, once)(*inputs, before)
            trust = memory["confidence"] * (1 + (found == other).mean()) / 2
            rows.append((benchmark == "pacs", trust, (found == labels[chosen]).mean(),
                         probabilities[chosen].max(1).mean()))
    is_pacs, trust, right, confidence = np.array(rows).T
    parts = [("all", right > -1), ("office31", is_pacs == 0), ("pacs", is_pacs == 1)]
    figures = ", ".join(f"{name} {rank_correlation(trust[part], right[part]):.2f}"
                        for name, part in parts)
    print(f"\nTrust, classes {'new' if once else 'any'}: Spearman {figures}; mean error "
          f"{np.abs(trust - right).mean():.2f}, bias {(trust - right).mean():+.2f}; of the source "
          f"model's largest probability {rank_correlation(confidence, right):.2f}")


def main(weights, office31, pacs, cache):
    study = Study(weights, {"office31": pathlib.Path(office31), "pacs": pathlib.Path(pacs)},
                  pathlib.Path(cache))
    print("| rule | benchmark | recall | precision | right labels |\n|---|---|---|---|---|")
    for name, rule in RULES.items():
        rows = {benchmark: [] for benchmark in SOURCES}
        for benchmark, prior, features, probabilities, labels in tasks(study):
            memory = {}
            for step in STEPS[len(prior)]:
                chosen = np.isin(labels, list(step))
                classes, found = rule(features[chosen], probabilities[chosen], prior, memory)
                right = len(set(classes) & set(step))
                rows[benchmark].append((right / len(step), right / len(classes),
                                        (found == labels[chosen]).mean()))
        for benchmark, values in rows.items():
            figures = " | ".join(f"{100 * value:.1f}" for value in np.mean(values, 0))
            print(f"| {name} | {benchmark}, {len(values)} steps | {figures} |", flush=True)
    for once in (True, False):
        show_trust(study, once)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
