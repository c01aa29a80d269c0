#include "version.h"

#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#include "proca/core/version.h"
#include "proca/models/export.h"

namespace proca::app {

std::string libtorch_version() { return TORCH_VERSION; }

std::string version_text() {
  return fmt::format("proca {} (LibTorch {}, CUDA {}, ONNX export {})", library_version(),
                     libtorch_version(), torch::cuda::is_available() ? "yes" : "no",
                     models::has_onnx_export() ? "yes" : "no");
}

}  // namespace proca::app
