#!/usr/bin/env python3
"""Writes parity.json: what torchvision's ResNets say about a made-up batch.

Weights and images come from an integer hash of (tensor name, element number),
which tests/models/formula.h repeats, so that no weights need to be stored.

    /usr/bin/python3 make_parity.py        (torch 1.13.0, torchvision 0.14.1)
"""

import json
import pathlib

import numpy
import torch
import torchvision

NUM_CLASSES = 7


def uniform(name, count):
    """`count` numbers in [0, 1): FNV-1a of the name, plus the element number, mixed."""
    seed = 0x811C9DC5
    for byte in name.encode():
        seed = (seed ^ byte) * 0x01000193 & 0xFFFFFFFF
    x = (numpy.arange(count, dtype=numpy.uint64) * 0x9E3779B1 + seed).astype(numpy.uint32)
    x ^= x >> 16
    x *= numpy.uint32(0x7FEB352D)
    x ^= x >> 15
    x *= numpy.uint32(0x846CA68B)
    x ^= x >> 16
    return x.astype(numpy.float64) / 2**32


def formula(name, shape):
    """A tensor's value: sizes of activations stay near 1 through the network."""
    u = uniform(name, int(numpy.prod(shape, dtype=numpy.int64)))
    if name.endswith("num_batches_tracked"):
        values = numpy.zeros(u.shape)
    elif name.endswith("running_var"):
        values = 0.5 + u
    elif name.endswith("running_mean") or name.endswith("bias"):
        values = 0.2 * u - 0.1
    elif len(shape) == 1:  # a batch-norm's scale
        values = 0.5 + 0.5 * u
    else:
        fan_in = int(numpy.prod(shape[1:]))
        values = (2 * u - 1) * (6 / fan_in) ** 0.5
    return torch.from_numpy(values.reshape(shape)).float()


def images():
    return formula("images", (2, 3, 64, 64)) * 30


def fill(model):
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(formula(name, tuple(tensor.shape)))
    return model


def stride_in_1x1(model):
    """Moves the stride of every bottleneck from its 3x3 to its first 1x1 convolution."""
    for module in model.modules():
        if isinstance(module, torchvision.models.resnet.Bottleneck):
            module.conv1.stride, module.conv2.stride = module.conv2.stride, module.conv1.stride
    return model


def run(model):
    with torch.no_grad():
        features = []
        hook = model.avgpool.register_forward_hook(lambda _, __, output: features.append(output))
        logits = model(images())
        hook.remove()
    return {
        "logits": logits.tolist(),
        "feature_sums": features[0].flatten(1).double().sum(1).tolist(),
    }


def main():
    torch.set_num_threads(2)
    make = torchvision.models
    result = {
        "num_classes": NUM_CLASSES,
        "eval": {
            "resnet18 3x3": run(fill(make.resnet18(num_classes=NUM_CLASSES)).eval()),
            "resnet50 3x3": run(fill(make.resnet50(num_classes=NUM_CLASSES)).eval()),
            "resnet50 1x1": run(stride_in_1x1(fill(make.resnet50(num_classes=NUM_CLASSES))).eval()),
        },
    }
    model = fill(make.resnet18(num_classes=NUM_CLASSES)).train()
    result["train"] = run(model)
    state = model.state_dict()
    watched = ["bn1", "layer2.0.downsample.1", "layer4.1.bn2"]
    result["train"]["statistics"] = {
        f"{layer}.{part}": state[f"{layer}.{part}"][:5].tolist()
        for layer in watched
        for part in ("running_mean", "running_var")
    }
    path = pathlib.Path(__file__).with_name("parity.json")
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
