// Writes ONNX models, images for them and what proca says about those:
// FOLDER/samples.json, read by run_onnx.mjs.

#include <filesystem>
#include <fstream>
#include <iostream>

#include <torch/torch.h>
#include <nlohmann/json.hpp>

#include "proca/models/export.h"
#include "support/formula.h"

namespace {

namespace fs = std::filesystem;
using proca::models::StrideIn;

constexpr int64_t kCount = 3;
constexpr int64_t kNumClasses = 4;

std::vector<std::vector<float>> rows_of(const torch::Tensor& matrix) {
  std::vector<std::vector<float>> rows;
  for (const auto& row : matrix.unbind(0)) {
    const auto values = row.contiguous();
    rows.emplace_back(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  }
  return rows;
}

nlohmann::json write_sample(const fs::path& folder, const std::string& name,
                            const std::string& backbone, StrideIn stride_in, int64_t size,
                            const std::string& neck = "") {
  torch::NoGradGuard no_grad;
  auto network = proca::test::formula_network(backbone, kNumClasses, stride_in);
  if (!neck.empty()) network->insert_neck(neck, 0);
  network->eval();
  const auto images = proca::test::formula_images(kCount, size).contiguous();
  const auto logits = network->forward(images).logits;
  proca::models::export_onnx(
      folder / (name + ".onnx"), network,
      {.class_names = {"cat", "dog", "\"quoted\"", "chien é"}, .image_size = size});
  std::ofstream(folder / (name + ".images"), std::ios::binary)
      .write(static_cast<const char*>(images.data_ptr()), static_cast<int64_t>(images.nbytes()));
  return {{"model", name + ".onnx"},
          {"images", name + ".images"},
          {"size", size},
          {"batches", {1, kCount}},
          {"logits", rows_of(logits)},
          {"probabilities", rows_of(logits.softmax(1))}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: onnx_sample FOLDER\n";
    return 2;
  }
  const fs::path folder = argv[1];
  const nlohmann::json samples = {
      write_sample(folder, "small", "resnet-small", StrideIn::k3x3, 32),
      write_sample(folder, "neck", "resnet-small", StrideIn::k3x3, 32,
                   "linear 8, batch-norm, relu, linear 6, elu"),
      write_sample(folder, "resnet18", "resnet18", StrideIn::k3x3, 64),
      write_sample(folder, "resnet50-1x1", "resnet50", StrideIn::k1x1, 64),
  };
  std::ofstream(folder / "samples.json") << samples.dump();
  return 0;
}
