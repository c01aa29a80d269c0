#pragma once

#include <cstdint>

#include <torch/types.h>

#include "proca/compute/ranks.h"

namespace proca::adaptation {

/// The mean feature of each class, from batches of images: the source centres f_k of
/// ProCA. Raw means, to be normalised where they are used. Only one sum per class is
/// kept, however many images there are.
class ClassCentres {
 public:
  /// Sums are kept on `device`, where the features should be.
  ClassCentres(int64_t num_classes, int64_t feature_size, torch::Device device = torch::kCPU);
  /// Features float [N, D], labels int64 [N] on the CPU, every value in [0, K).
  void add(const torch::Tensor& features, const torch::Tensor& labels);
  /// Adds what the other ranks have added to theirs.
  void add_up(compute::Ranks& ranks);
  /// float [K, D] on the device; a class without images has a zero row.
  torch::Tensor centres() const;

 private:
  torch::Tensor sums_;    // double [K, D], on the device
  torch::Tensor counts_;  // int64 [K], on the CPU
};

/// Share of each class among the images, float [K]: the source prior of detection. All
/// zero when there are none. Labels are int64 [N], every value in [0, K).
torch::Tensor class_prior(const torch::Tensor& labels, int64_t num_classes);

}  // namespace proca::adaptation
