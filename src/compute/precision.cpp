#include "proca/compute/precision.h"

#include <atomic>
#include <stdexcept>

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace proca::compute {
namespace {

std::atomic<Winograd> chosen_winograd = Winograd::kOn;

// LibTorch renamed these when autocasting came to other devices than CUDA.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool is_autocasting() { return at::autocast::is_autocast_enabled(at::kCUDA); }
void set_autocast(bool enabled) {
  at::autocast::set_autocast_enabled(at::kCUDA, enabled);
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
}
#else
bool is_autocasting() { return at::autocast::is_enabled(); }
void set_autocast(bool enabled) {
  at::autocast::set_enabled(enabled);
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
}
#endif

}  // namespace

AutocastScope::AutocastScope(Precision precision, c10::Device device)
    : was_active_(is_autocasting()) {
  set_autocast(precision == Precision::kBf16 && device.is_cuda());
}

AutocastScope::~AutocastScope() {
  set_autocast(was_active_);
  if (!was_active_) at::autocast::clear_cache();  // Weights change with the next update.
}

std::string_view word_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kBf16:
      return "bf16";
  }
  throw std::logic_error("a precision without a word");
}

Precision effective_precision(Precision precision, c10::Device device) {
  return device.is_cuda() ? precision : Precision::kFp32;
}

c10::ScalarType inference_dtype(Precision precision, c10::Device device) {
  return precision == Precision::kBf16 && device.is_cuda() ? at::kBFloat16 : at::kFloat;
}

void set_precision(Precision precision) {
  const bool allowed = precision != Precision::kFp32;
  at::globalContext().setAllowTF32CuDNN(allowed);
  at::globalContext().setAllowTF32CuBLAS(allowed);
}

void set_winograd(Winograd winograd) { chosen_winograd = winograd; }

Winograd winograd() { return chosen_winograd; }

}  // namespace proca::compute
