#include "engine/source/kept_source.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "adaptation/source_centres.h"
#include "models/weights/json_tensor.h"
#include "models/weights/saved_tensors.h"
#include "proca/core/error.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

class KeptImages final : public data::ImageSource {
 public:
  KeptImages(torch::Tensor pixels, data::ImageListing listing) : pixels_(std::move(pixels)) {
    listing_ = std::move(listing);
  }
  data::Image read(int64_t index) const override {
    auto image = data::Image::black(pixels_.size(2), pixels_.size(1));
    const auto size = image.pixels.size();
    std::memcpy(image.pixels.data(),
                pixels_.data_ptr<uint8_t>() + static_cast<size_t>(index) * size, size);
    return image;
  }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    throw InputError(fmt::format("{}: is stored as pixels, not as a file",
                                 listing_.samples[static_cast<size_t>(index)].path));
  }

 private:
  torch::Tensor pixels_;
};

}  // namespace

int64_t KeptSource::per_class() const { return torch::bincount(labels).max().item<int64_t>(); }

torch::Tensor KeptSource::prior() const {
  return adaptation::class_prior(torch::repeat_interleave(counts), counts.size(0));
}

std::shared_ptr<const data::ImageSource> KeptSource::images(
    const std::vector<std::string>& class_names, const std::string& origin) const {
  data::ImageListing listing{.origin = origin, .samples = {}, .class_names = class_names};
  for (int64_t i = 0; i < size(); ++i) {
    listing.samples.push_back({origins[static_cast<size_t>(i)], labels.data_ptr<int64_t>()[i]});
  }
  return std::make_shared<KeptImages>(pixels, std::move(listing));
}

models::NamedTensors KeptSource::save() const {
  return {{"pixels", pixels},
          {"labels", labels},
          {"origins", models::json_tensor(origins)},
          {"counts", counts},
          {"centres", centres}};
}

KeptSource KeptSource::load(const models::NamedTensors& tensors, int64_t num_classes,
                            const std::string& origin) {
  const models::SavedTensors saved(tensors, origin + ": is damaged");
  KeptSource kept;
  kept.labels = saved.read_integers("labels", {-1}, 0, num_classes - 1);
  const int64_t count = kept.labels.size(0);
  kept.pixels = saved.read("pixels", torch::kUInt8, {count, -1, -1, 3});
  if (kept.pixels.numel() == 0) saved.refuse("pixels", "is empty");
  kept.counts = saved.read_integers("counts", {num_classes}, 0);
  const auto kept_counts = torch::bincount(kept.labels, /*weights=*/{}, num_classes);
  if ((kept_counts > kept.counts).any().item<bool>()) {
    saved.refuse("counts", "has fewer images of a class than are kept");
  }
  kept.centres = saved.read("centres", torch::kFloat32, {num_classes, -1});
  const auto names = models::read_json(saved, "origins");
  const bool fits =
      names.is_array() && static_cast<int64_t>(names.size()) == count &&
      std::all_of(names.begin(), names.end(), [](const auto& name) { return name.is_string(); });
  if (!fits) saved.refuse("origins", "is not a JSON array with a name per image");
  kept.origins = names.get<std::vector<std::string>>();
  return kept;
}

KeptSource read_kept_source(const state::StateDirectory& state) {
  return KeptSource::load(state.read_tensors(state::kKeptSourceFile).tensors,
                          static_cast<int64_t>(state.manifest().model.class_names.size()),
                          (state.folder() / state::kKeptSourceFile).string());
}

}  // namespace proca::engine
