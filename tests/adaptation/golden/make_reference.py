#!/usr/bin/env python3
"""Writes herding.json, pseudo_labels.json and detection.json: random inputs and what
the formulas of the headers in include/proca/adaptation/ say about them.

Every formula is evaluated as it is written there, one image and one class at a
time; nothing is rearranged. Inputs have six decimals, so that the files hold
exactly the numbers the results belong to. A choice that rounding could turn round
is refused: then take another seed.

    /usr/bin/python3 make_reference.py        (Python 3.11, numpy 1.24.2)
"""

import json
import pathlib

import numpy as np

CLEAR = 1e-8  # how much better than the second best a choice must be


def clear_argmin(values):
    """Index of the smallest of a dict's values."""
    order = sorted(values, key=values.get)
    if len(order) > 1:
        assert values[order[1]] - values[order[0]] > CLEAR, "a tie; take another seed"
    return order[0]


def unit(vector):
    length = np.sqrt(sum(x * x for x in vector))
    return vector / length if length > 0 else vector


def cosine(a, b):
    lengths = np.sqrt(np.dot(a, a)) * np.sqrt(np.dot(b, b))
    return np.dot(a, b) / lengths if lengths > 0 else 0.0


def herd(features, count, unit_features, repeats_allowed):
    g = [unit(x) if unit_features else x for x in features]
    f = sum(g) / len(g)
    chosen = []
    for m in range(1, count + 1):
        distances = {}
        for x in range(len(g)):
            if not repeats_allowed and chosen.count(x) > min(map(chosen.count, range(len(g)))):
                continue
            distances[x] = np.linalg.norm(f - (g[x] + sum(g[p] for p in chosen)) / m)
        chosen.append(clear_argmin(distances))
    return chosen


def pseudo_labels(features, probabilities, classes, unit_space):
    q = [unit(np.append(x, 1.0)) if unit_space else x for x in features]
    centroids = {}
    for k in classes:
        p = probabilities[:, k]
        centroids[k] = sum(p[i] * q[i] for i in range(len(q))) / (sum(p) + 1e-8)
    first = [clear_argmin({k: -cosine(x, c) for k, c in centroids.items()}) for x in q]
    centroids = {}
    for k in classes:
        members = [q[i] for i in range(len(q)) if first[i] == k]
        if members:
            centroids[k] = sum(members) / len(members)
    final = [clear_argmin({k: -cosine(x, c) for k, c in centroids.items()}) for x in q]
    similarities = [cosine(q[i], centroids[final[i]]) for i in range(len(q))]
    return {"first": first, "labels": final, "similarities": similarities}


def cumulative(probabilities):
    return [sum(probabilities[i, k] for i in range(len(probabilities))) for k in range(probabilities.shape[1])]


def normalised(u):
    return [(x - min(u)) / (max(u) - min(u)) for x in u]


def scd(probabilities, alpha):
    scores = normalised(cumulative(probabilities))
    assert all(abs(x - alpha) > CLEAR for x in scores)
    return {"classes": [k for k, x in enumerate(scores) if x >= alpha], "scores": scores, "threshold": alpha}


def hbw(probabilities, weights):
    u = cumulative(probabilities)
    order = sorted(range(len(u)), key=lambda k: -u[k])
    variances = {}
    for r in range(1, len(u)):
        positive = [u[k] for k in order[:r]]
        negative = [u[k] for k in order[r:]]
        w = {"count": r / len(u), "mass": sum(positive) / sum(u)}[weights]
        variances[r] = w * (1 - w) * (np.mean(positive) - np.mean(negative)) ** 2
    cut = clear_argmin({r: -v for r, v in variances.items()})
    scores = normalised(u)
    return {"classes": sorted(order[:cut]), "scores": scores, "threshold": scores[order[cut - 1]]}


def label_shift(probabilities, prior, temperature):
    n, num_classes = probabilities.shape
    softened = [p ** (1 / temperature) / sum(p ** (1 / temperature)) for p in probabilities]
    shares = np.array(prior)
    for _ in range(1000):
        q = np.zeros((n, num_classes))
        for i in range(n):
            for k in range(num_classes):
                if prior[k] > 0:
                    q[i, k] = softened[i][k] * shares[k] / prior[k]
            q[i] /= sum(q[i])
        moved = np.max(np.abs(q.mean(0) - shares))
        shares = q.mean(0)
        if moved <= 1e-6:
            break
    threshold = 1 / num_classes
    assert all(abs(x - threshold) > 1e-5 for x in shares)
    return {"classes": [k for k, x in enumerate(shares) if x > threshold],
            "scores": list(shares), "threshold": threshold}


def random_probabilities(random, n, num_classes, num_shown, sharpness=2.0):
    """Softmax outputs of a classifier that is often right; only some classes are shown."""
    logits = random.normal(0, 1, (n, num_classes))
    shown = random.permutation(num_classes)[:num_shown]
    logits[np.arange(n), shown[random.integers(num_shown, size=n)]] += sharpness
    p = np.exp(logits)
    return np.round(p / p.sum(1, keepdims=True), 6)


def rows(matrix):
    return [[round(float(x), 6) for x in row] for row in matrix]


def herding_cases(random):
    for n, size, count in [(60, 16, 20), (45, 16, 10), (7, 16, 20), (40, 5, 12)]:
        features = np.round(np.abs(random.normal(0, 1, (n, size))) * random.uniform(0.5, 2, (n, 1)), 6)
        yield {"features": rows(features), "count": count,
               "chosen": {f"{space} {repeats}": herd(features, count, space == "unit", repeats == "allowed")
                          for space in ("unit", "raw") for repeats in ("allowed", "if-needed")}}


def pseudo_label_cases(random):
    for n, size, num_classes, classes in [(60, 16, 12, list(range(12))), (50, 16, 8, [1, 2, 5, 7]),
                                          (40, 12, 10, [0, 3, 4, 8, 9])]:
        probabilities = random_probabilities(random, n, num_classes, num_classes // 2)
        centres = random.normal(0, 1, (num_classes, size))
        features = centres[probabilities.argmax(1)] + random.normal(0, 1, (n, size))
        features = np.round(np.maximum(features, 0), 6)
        yield {"features": rows(features), "probabilities": rows(probabilities), "classes": classes,
               "results": {space: pseudo_labels(features, probabilities, classes, space == "unit")
                           for space in ("unit", "raw")}}


def detection_cases(random):
    for n, num_classes, num_shown, sharpness in [(60, 12, 4, 3.0), (50, 8, 3, 2.0), (40, 10, 10, 1.0), (55, 9, 1, 4.0)]:
        probabilities = random_probabilities(random, n, num_classes, num_shown, sharpness)
        counts = random.integers(1, 9, size=num_classes)
        if num_shown == 3:
            counts[num_classes - 1] = 0  # a class without source images
        # In 1024ths, which every floating-point type holds exactly.
        prior = np.floor(1024 * counts / counts.sum()) / 1024
        prior[0] += 1 - prior.sum()
        yield {"probabilities": rows(probabilities), "prior": list(prior), "alpha": 0.15, "temperature": 2.0,
               "cumulative": normalised(cumulative(probabilities)),
               "results": {
                   "scd": scd(probabilities, 0.15),
                   "hbw count": hbw(probabilities, "count"),
                   "hbw mass": hbw(probabilities, "mass"),
                   "label-shift": label_shift(probabilities, prior, 2.0),
                   "none": {"classes": list(range(num_classes))}}}


def main():
    folder = pathlib.Path(__file__).parent
    for number, (name, cases) in enumerate([("herding", herding_cases), ("pseudo_labels", pseudo_label_cases),
                                            ("detection", detection_cases)]):
        random = np.random.default_rng(2022 + number)
        lines = ",\n".join(json.dumps(case, default=lambda x: x.item()) for case in cases(random))
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
