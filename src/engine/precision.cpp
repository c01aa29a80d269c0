#include "proca/engine/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace proca::engine {
namespace {

// LibTorch renamed these when autocasting came to other devices than CUDA.
void set_autocast(bool enabled) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_enabled(at::kCUDA, enabled);
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
#else
  at::autocast::set_enabled(enabled);
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
#endif
}

}  // namespace

AutocastScope::AutocastScope(Precision precision, c10::Device device)
    : active_(precision == Precision::kBf16 && device.is_cuda()) {
  if (active_) set_autocast(true);
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  set_autocast(false);
  at::autocast::clear_cache();  // Weights change with the next update.
}

void set_precision(Precision precision) {
  const bool allowed = precision != Precision::kFp32;
  at::globalContext().setAllowTF32CuDNN(allowed);
  at::globalContext().setAllowTF32CuBLAS(allowed);
}

}  // namespace proca::engine
