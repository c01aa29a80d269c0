#!/usr/bin/python3
"""Writes the .pth files of this folder; the expected values are formulas in
tests/models/weight_file_test.cpp. Needs torch (made with 1.13)."""

import pathlib
from collections import OrderedDict

import torch

FOLDER = pathlib.Path(__file__).parent


def save(name, content, **options):
    torch.save(content, FOLDER / f"{name}_zip.pth", **options)
    torch.save(content, FOLDER / f"{name}_stream.pth", _use_new_zipfile_serialization=False, **options)


def state_dict():
    """Element k of a signed tensor is k - 2, halved for floats; of u8 it is k; of bool k % 2."""
    count = torch.arange(6).view(2, 3)
    state = OrderedDict()
    for name in ("float64", "float32", "float16", "bfloat16"):
        state[name] = ((count - 2) / 2).to(getattr(torch, name))
    for name in ("int64", "int32", "int16", "int8"):
        state[name] = (count - 2).to(getattr(torch, name))
    state["uint8"] = count.to(torch.uint8)
    state["bool"] = count % 2 == 1
    state["scalar"] = torch.tensor(7)
    state["empty"] = torch.empty(0, 3)
    state["parameter"] = torch.nn.Parameter(torch.tensor([1.5, -2.5]))
    base = torch.arange(10.0)
    state["shared.first"] = base[:4]
    state["shared.second"] = base[4:]
    state["transposed"] = torch.arange(6.0).view(2, 3).t()
    state["strided"] = torch.arange(12.0).view(3, 4)[1:, ::2]
    state._metadata = OrderedDict([("", {"version": 1})])  # as Module.state_dict leaves it
    return state


def checkpoint():
    return {
        "epoch": 12,
        "best": 71.5,
        "arch": "tiny",
        "best_tensor": torch.tensor(71.5),
        "steps": 10**30,
        "missing": None,
        "size": torch.Size([2, 3]),
        "device": torch.device("cpu"),
        "dtype": torch.float32,
        "state_dict": {
            "module.fc.weight": torch.arange(6.0).view(3, 2),
            "module.fc.bias": torch.tensor([0.5, 1.0, -1.0]),
        },
        "optimizer": {
            "state": {0: {"momentum_buffer": torch.ones(3, 2)}},
            "param_groups": [{"lr": 0.1, "nesterov": True, "params": [0, 1]}],
        },
    }


save("state_dict", state_dict())
save("checkpoint", checkpoint())
save("protocol4", checkpoint(), pickle_protocol=4)
