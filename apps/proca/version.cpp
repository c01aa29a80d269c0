#include "version.h"

#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#include "proca/models/export.h"

namespace proca::app {

std::string version_text() {
  return fmt::format("proca {} (LibTorch {}, CUDA {}, ONNX export {})", PROCA_VERSION,
                     TORCH_VERSION, torch::cuda::is_available() ? "yes" : "no",
                     models::has_onnx_export() ? "yes" : "no");
}

}  // namespace proca::app
