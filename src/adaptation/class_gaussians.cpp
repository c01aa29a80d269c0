#include "adaptation/class_gaussians.h"

#include <limits>

#include "adaptation/host_doubles.h"
#include "models/weights/saved_tensors.h"

namespace proca::adaptation {
namespace {

// Standard normal numbers from our own stream: the same for every device.
torch::Tensor draw_normals(int64_t count, int64_t size, RandomStream& random) {
  auto draws = torch::empty({count, size}, torch::kFloat32);
  auto* values = draws.data_ptr<float>();
  for (int64_t i = 0; i < draws.numel(); ++i) values[i] = static_cast<float>(random.normal());
  return draws;
}

}  // namespace

torch::Tensor ClassGaussians::draw_labels(int64_t count, RandomStream& random) const {
  TORCH_CHECK(!empty(), "there are no Gaussians to draw from");
  auto places = torch::empty({count}, torch::kInt64);
  auto* values = places.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) values[i] = random.uniform_int(classes_.size(0));
  return classes_.index_select(0, places.to(classes_.device()));
}

torch::Tensor ClassGaussians::sample(const torch::Tensor& labels, RandomStream& random) const {
  TORCH_CHECK(!empty(), "there are no Gaussians to draw from");
  const auto draws = draw_normals(labels.size(0), means_.size(1), random).to(means_.device());
  return means_.index_select(0, labels) + variances_.index_select(0, labels).sqrt() * draws;
}

torch::Tensor ClassGaussians::scaled_distances(const torch::Tensor& latents) const {
  TORCH_CHECK(!empty() && latents.dim() == 2 && latents.size(1) == means_.size(1),
              "scaled_distances: latents ", latents.sizes());
  // Expanded, (u - m)^2 / s needs no [n, K, D] numbers; in double the differences of
  // large terms are exact enough.
  const auto u = latents.detach().to(torch::kFloat64);
  const auto m = means_.to(torch::kFloat64);
  const auto precisions = variances_.to(torch::kFloat64).reciprocal();
  const auto sums = u.square().matmul(precisions.t()) - 2 * u.matmul((m * precisions).t()) +
                    (m.square() * precisions).sum(1);
  return (sums / static_cast<double>(m.size(1)))
      .clamp_min(0)
      .sqrt()
      .to(torch::kFloat32)
      .masked_fill(present_.logical_not(), std::numeric_limits<double>::infinity());
}

torch::Tensor ClassGaussians::sample_negatives(int64_t count, RandomStream& random) const {
  TORCH_CHECK(!empty(), "there are no Gaussians to draw from");
  constexpr int64_t kDrawsPerSample = 4;
  constexpr double kFarEnough = 3;
  const auto draws = draw_normals(count * kDrawsPerSample, means_.size(1), random);
  const auto candidates = global_mean_ + global_deviations_ * draws.to(means_.device());
  // Beyond the limit all are equally good: a stable sort leaves them in the order
  // they were drawn, and puts the farthest of the others behind them.
  const auto nearest = scaled_distances(candidates).amin(1).clamp_max(kFarEnough);
  const auto order = std::get<1>(nearest.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
  return candidates.index_select(0, order.narrow(0, 0, count));
}

std::map<std::string, torch::Tensor> ClassGaussians::save() const {
  if (empty()) return {};
  return {{"means", means_},
          {"variances", variances_},
          {"classes", classes_},
          {"global_mean", global_mean_},
          {"global_deviations", global_deviations_}};
}

void ClassGaussians::load(const std::map<std::string, torch::Tensor>& tensors,
                          const torch::Device& device) {
  ClassGaussians loaded;
  if (!tensors.empty()) {
    const models::SavedTensors saved(tensors, "class Gaussians");
    const auto means = saved.read("means", torch::kFloat32, {-1, -1});
    const int64_t num_classes = means.size(0), size = means.size(1);
    const auto read = [&](const std::string& name, const std::vector<int64_t>& shape) {
      return saved.read(name, torch::kFloat32, shape).to(device);
    };
    loaded.means_ = means.to(device);
    loaded.variances_ = read("variances", {num_classes, size});
    loaded.global_mean_ = read("global_mean", {size});
    loaded.global_deviations_ = read("global_deviations", {size});
    loaded.classes_ = saved.read_integers("classes", {-1}, 0, num_classes - 1).to(device);
    if (loaded.classes_.numel() == 0) saved.refuse("classes", "is empty");
    loaded.present_ = torch::zeros({num_classes}, loaded.classes_.options().dtype(torch::kBool));
    loaded.present_.index_fill_(0, loaded.classes_, true);
  }
  *this = std::move(loaded);
}

GaussianSums::GaussianSums(int64_t num_classes, int64_t latent_size)
    : counts_(torch::zeros({num_classes + 1}, torch::kInt64)),
      means_(torch::zeros({num_classes + 1, latent_size}, torch::kFloat64)),
      squares_(torch::zeros({num_classes + 1, latent_size}, torch::kFloat64)) {}

void GaussianSums::add(const torch::Tensor& latents, const torch::Tensor& labels) {
  const int64_t num_classes = means_.size(0) - 1, size = means_.size(1);
  TORCH_CHECK(latents.dim() == 2 && latents.size(1) == size && labels.dim() == 1 &&
                  labels.size(0) == latents.size(0),
              "class Gaussians: latents ", latents.sizes(), " and labels ", labels.sizes());
  const auto rows = host_doubles(latents, "latent features");
  const auto host_labels = labels.to(torch::kCPU, torch::kInt64).contiguous();
  const auto update = [&](int64_t group, const double* row) {
    const auto count = static_cast<double>(++counts_.data_ptr<int64_t>()[group]);
    double* mean = means_.data_ptr<double>() + group * size;
    double* square = squares_.data_ptr<double>() + group * size;
    for (int64_t d = 0; d < size; ++d) {
      const double difference = row[d] - mean[d];
      mean[d] += difference / count;
      square[d] += difference * (row[d] - mean[d]);
    }
  };
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const int64_t label = host_labels.data_ptr<int64_t>()[i];
    TORCH_CHECK(label >= 0 && label < num_classes, "label ", label, " of image ", i, " is none of ",
                num_classes, " classes");
    const auto* row = rows.data_ptr<double>() + i * size;
    update(label, row);
    update(num_classes, row);
  }
}

ClassGaussians GaussianSums::gaussians(const torch::Device& device) const {
  const int64_t num_classes = means_.size(0) - 1;
  ClassGaussians result;
  if (counts_[num_classes].item<int64_t>() == 0) return result;
  const auto variances = (squares_ / counts_.clamp_min(1).unsqueeze(1))
                             .clamp_min(ClassGaussians::kVarianceFloor)
                             .to(torch::kFloat32);
  const auto means = means_.to(torch::kFloat32);
  const auto present = counts_.narrow(0, 0, num_classes) > 0;
  result.means_ = means.narrow(0, 0, num_classes).contiguous().to(device);
  // Any number will do for a class without images, as long as one can divide by it.
  result.variances_ = variances.narrow(0, 0, num_classes)
                          .masked_fill(present.logical_not().unsqueeze(1), 1.0)
                          .to(device);
  result.present_ = present.to(device);
  result.classes_ = present.nonzero().flatten().to(device);
  result.global_mean_ = means[num_classes].clone().to(device);
  result.global_deviations_ = variances[num_classes].sqrt().to(device);
  return result;
}

}  // namespace proca::adaptation
