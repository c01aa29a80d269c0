"""Prints the CMake prefix of the active Python's torch, or nothing.

Used by tools/dependencies.sh and cmake/ProcaDependencies.cmake, so that both
always agree on which LibTorch a build takes. torch itself is not imported:
that takes seconds, finding it takes milliseconds.

Nothing is printed when torch is missing, when it carries no CMake files (as
Debian's python3-torch does not) or when it is a CUDA build and no CUDA compiler
is here: its CMake files would stop the configuration.
"""

import importlib.util
import os
import shutil
import sys


def cuda_compiler_exists():
    folders = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH", "CUDAToolkit_ROOT")]
    folders.append("/usr/local/cuda")
    candidates = [os.path.join(folder, "bin", "nvcc") for folder in folders if folder]
    candidates += [os.environ.get("CUDACXX", ""), shutil.which("nvcc") or ""]
    return any(os.path.isfile(path) for path in candidates)


def main():
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        return
    torch = spec.submodule_search_locations[0]
    prefix = os.path.join(torch, "share", "cmake")
    if not os.path.isfile(os.path.join(prefix, "Torch", "TorchConfig.cmake")):
        return
    if os.path.exists(os.path.join(torch, "lib", "libtorch_cuda.so")) and not cuda_compiler_exists():
        print("proca: the active Python's torch is passed over: it is a CUDA build and nvcc is missing",
              file=sys.stderr)
        return
    print(prefix)


main()
