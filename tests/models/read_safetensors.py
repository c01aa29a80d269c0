#!/usr/bin/env python3
"""Prints a safetensors file as JSON: metadata, and dtype, shape and values of
every tensor. Python's own modules only."""

import json
import struct
import sys

CODES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i", "I16": "h", "I8": "b", "U8": "B", "BOOL": "?"}


def values(kind, data):
    if kind == "BF16":  # the upper half of a float
        return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]
    return [value for (value,) in struct.iter_unpack("<" + CODES[kind], data)]


with open(sys.argv[1], "rb") as file:
    (size,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()

metadata = header.pop("__metadata__", {})
tensors = {}
for name, entry in header.items():
    begin, end = entry["data_offsets"]
    tensors[name] = {"dtype": entry["dtype"], "shape": entry["shape"], "values": values(entry["dtype"], data[begin:end])}
print(json.dumps({"metadata": metadata, "tensors": tensors}))
