#!/usr/bin/env python3
"""Compares the project's CUDA kernels with PyTorch's own operations, on a machine that
has a GPU, CUDA's compiler and a PyTorch with CUDA. Ends with 1 if any result is off.

    python3 benchmarks/cuda_kernels/check.py
"""

import itertools
import os
import sys

import torch
import torch.nn.functional as F
from torch.utils.cpp_extension import load

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "..", "src", "models")
SOURCES = ["cuda/batch_norm.cpp", "cuda/batch_norm.cu", "cuda/max_pool.cpp", "cuda/max_pool.cu"]

kernels = load(
    name="proca_kernels",
    sources=[os.path.join(HERE, "bindings.cpp")] + [os.path.join(MODELS, s) for s in SOURCES],
    extra_include_paths=[MODELS, os.path.join(MODELS, "..", "..", "include")],
    extra_cflags=["-O2", "-std=c++20"],
    extra_cuda_cflags=["-O3", "-std=c++20"],
)
failures = 0


def expect_close(what, actual, expected, tolerance):
    """By the mean of absolute differences: a value next to zero may be rectified or not."""
    global failures
    scale = expected.float().abs().mean().item() + 1e-6
    error = (actual.float() - expected.float()).abs().mean().item() / scale
    if not error < tolerance:
        failures += 1
        print(f"{what}: off by {error:.2e} (allowed {tolerance:.0e})")


def made_up(*shape, dtype):
    values = torch.randn(*shape, device="cuda") * 2 + 1
    return values.contiguous(memory_format=torch.channels_last).to(dtype)


def layer(channels):
    return {
        "weight": torch.linspace(0.5, 1.5, channels, device="cuda"),
        "bias": torch.linspace(-0.3, 0.3, channels, device="cuda"),
        "running_mean": torch.full((channels,), 0.5, device="cuda"),
        "running_var": torch.full((channels,), 2.0, device="cuda"),
    }


def reference(values, residual, gradient, groups, relu, parts, ranks):
    """One call after the other, in float, by automatic differentiation. Further ranks with the
    same images change nothing but the number of values that the running variance is of."""
    values = values.float().requires_grad_()
    residual = residual.float().requires_grad_() if residual is not None else None
    weight, bias = (parts[name].clone().requires_grad_() for name in ("weight", "bias"))
    outputs, first = [], 0
    for size in groups:
        before, running_var = parts["running_var"], parts["running_var"].clone()
        output = F.batch_norm(values[first:first + size], parts["running_mean"], running_var,
                              weight, bias, training=True)
        count = size * values.shape[2] * values.shape[3]
        variance = (running_var - 0.9 * before) * (count - 1) / count  # a tenth of it
        parts["running_var"] = 0.9 * before + variance * ranks * count / (ranks * count - 1)
        if residual is not None:
            output = output + residual[first:first + size]
        outputs.append(F.relu(output) if relu else output)
        first += size
    output = torch.cat(outputs + [torch.zeros_like(values[first:])])
    output.backward(gradient.float())
    return output, values.grad, residual.grad if residual is not None else None, weight.grad, bias.grad


def check_batch_norm(dtype, tolerance, channels, size, groups, padding, relu, with_residual, ranks):
    images = sum(groups) + padding
    values = made_up(images, channels, size, size, dtype=dtype)
    residual = made_up(images, channels, size, size, dtype=dtype) if with_residual else None
    gradient = torch.randn_like(values)
    mine, theirs = layer(channels), layer(channels)
    tracked = torch.zeros((), dtype=torch.int64, device="cuda")
    module = kernels.Layer(mine["weight"], mine["bias"], mine["running_mean"], mine["running_var"], tracked,
                           ranks == 2)
    output, mean, inv_std, mask, pixels = module.forward(values, residual, groups, relu)
    dv, dr, dw, db = module.backward(gradient, values, residual, groups, relu, mean, inv_std, mask, pixels)
    expected = reference(values, residual, gradient, groups, relu, theirs, ranks)
    case = f"batch-norm {dtype}, {channels} channels of {size} x {size}, groups {groups} + {padding}, " \
           f"relu {relu}, residual {with_residual}, ranks {ranks}"
    for name, a, b in zip(("output", "values", "residual", "weight", "bias"), (output, dv, dr, dw, db), expected):
        if b is not None:
            expect_close(f"{case}: {name}", a, b, tolerance)
    for name in ("running_mean", "running_var"):
        expect_close(f"{case}: {name}", mine[name], theirs[name], 1e-3 if dtype == torch.bfloat16 else 1e-5)
    if tracked.item() != len(groups):
        expect_close(f"{case}: batches counted", tracked, torch.tensor(len(groups)), 0)


def check_max_pool(dtype, shape):
    values = made_up(*shape, dtype=dtype).requires_grad_()
    expected = F.max_pool2d(values, 3, 2, 1)
    gradient = torch.randn_like(expected)
    expected.backward(gradient)
    output, winners = kernels.max_pool(values.detach())
    expect_close(f"maximum {dtype} {shape}", output, expected, 1e-9)
    given_back = kernels.max_pool_backward(gradient, winners, list(shape))
    expect_close(f"maximum {dtype} {shape}: gradient", given_back, values.grad, 1e-2)


def main():
    torch.manual_seed(0)
    shapes = [(64, 56, [5, 3, 4]), (256, 14, [8]), (2048, 7, [3, 2]), (8, 5, [2, 7, 9]), (48, 9, [6, 6])]
    count = 0
    for (dtype, tolerance), (channels, size, groups), padding, relu, residual, ranks in itertools.product(
            ((torch.float32, 1e-4), (torch.bfloat16, 2e-2)), shapes, (0, 3), (False, True), (False, True), (1, 2)):
        check_batch_norm(dtype, tolerance, channels, size, groups, padding, relu, residual, ranks)
        count += 1
    for dtype in (torch.float32, torch.bfloat16):
        for shape in ((3, 64, 112, 112), (2, 8, 7, 9), (1, 16, 1, 1)):
            check_max_pool(dtype, shape)
            count += 1
    print(f"{count} cases on {torch.cuda.get_device_name()}: {failures} results off")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
