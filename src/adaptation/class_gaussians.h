#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <torch/types.h>

#include "proca/core/random.h"

namespace proca::adaptation {

/// Stands for the source images when these are gone: for every class a Gaussian with a
/// diagonal covariance over latent features, and one over all of them.
///
/// A class without images has no Gaussian: it is never drawn, and its distance is infinite.
///
/// Example:
/// ```
/// GaussianSums sums(num_classes, 256);
/// for (const auto& batch : batches) sums.add(latents_of(batch), batch.labels);
/// const auto gaussians = sums.gaussians(device);
/// RandomStream random(seed, "proxy source");
/// const auto labels = gaussians.draw_labels(32, random);
/// const auto latents = gaussians.sample(labels, random);
/// ```
class ClassGaussians {
 public:
  /// The smallest variance a dimension may have.
  static constexpr double kVarianceFloor = 1e-4;

  /// No Gaussians at all.
  ClassGaussians() = default;

  bool empty() const { return !means_.defined(); }

  /// float [K, D] on the device; a class without images has a row of zeros, and of ones.
  const torch::Tensor& means() const { return means_; }
  const torch::Tensor& variances() const { return variances_; }
  const torch::Tensor& present() const { return present_; }  ///< bool [K]
  const torch::Tensor& classes() const { return classes_; }  ///< int64 [C], those present

  /// `count` of the classes that are present, uniformly and with replacement: int64
  /// [count] on the device.
  torch::Tensor draw_labels(int64_t count, RandomStream& random) const;
  /// One latent feature of each label's Gaussian: float [n, D]. The labels, int64 [n],
  /// must be of classes that are present.
  torch::Tensor sample(const torch::Tensor& labels, RandomStream& random) const;

  /// sqrt( mean_d (u_d - m_cd)^2 / s_cd ), how many deviations away a latent feature is:
  /// float [n, K], infinite for classes that are not present.
  torch::Tensor scaled_distances(const torch::Tensor& latents) const;

  /// `count` latent features that are like the source's as a whole but like none of its
  /// classes: float [count, D]. Of four times as many draws of the global Gaussian
  /// the first whose scaled distance is above 3 from every class; if these are
  /// too few, the ones that are farthest from their nearest class join them.
  torch::Tensor sample_negatives(int64_t count, RandomStream& random) const;

  /// Nothing when empty.
  std::map<std::string, torch::Tensor> save() const;
  /// Restores what `save` returned, on `device`. Throws `InputError` if something is
  /// missing or does not fit.
  void load(const std::map<std::string, torch::Tensor>& tensors, const torch::Device& device);

 private:
  friend class GaussianSums;

  torch::Tensor means_, variances_;                // float [K, D]
  torch::Tensor present_;                          // bool [K]
  torch::Tensor classes_;                          // int64 [C]
  torch::Tensor global_mean_, global_deviations_;  // float [D]
};

/// Accumulates labelled latent features, batch by batch, and computes their Gaussians:
/// means and variances (divided by n) by Welford's recurrence in double on the CPU,
/// so that neither the size of the batches nor the device matters.
class GaussianSums {
 public:
  GaussianSums(int64_t num_classes, int64_t latent_size);

  /// Latents float [n, D], labels int64 [n], every value in [0, K).
  void add(const torch::Tensor& latents, const torch::Tensor& labels);

  /// Variances are at least `ClassGaussians::kVarianceFloor`. Without any image the
  /// result is empty.
  ClassGaussians gaussians(const torch::Device& device) const;

 private:
  // Rows 0, ..., K - 1 belong to the classes, row K to all images.
  torch::Tensor counts_;   // int64 [K + 1]
  torch::Tensor means_;    // double [K + 1, D]
  torch::Tensor squares_;  // double [K + 1, D]: sums of squared differences from the mean
};

}  // namespace proca::adaptation
