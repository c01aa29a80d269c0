#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "proca/core/error.h"
#include "proca/engine/source_trainer.h"
#include "support/memory_images.h"
#include "support/shapes_data.h"

namespace proca::test {

/// How a small source model is trained on bars.
inline engine::SourceTrainingOptions bars_training(const std::filesystem::path& images) {
  engine::SourceTrainingOptions training;
  training.source = images.string();
  training.backbone = "resnet-small";
  training.image_size = 16;
  training.epochs = 4;
  training.batch_size = 8;
  return training;
}

/// Draws bars to `images` and trains a small source model on them in `state`.
inline void train_bars(const std::filesystem::path& images, const std::filesystem::path& state) {
  write_bars(images, 16);
  engine::train_source(bars_training(images), state);
}

/// Bars in other colours: the target domain.
inline std::shared_ptr<data::ImageSource> target_bars(const std::vector<int64_t>& labels,
                                                      int64_t per_class, int64_t first = 100) {
  std::vector<data::Image> images;
  for (const int64_t label : labels) {
    for (int64_t i = 0; i < per_class; ++i) {
      auto image = bar_image(label, first + i);
      for (auto& value : image.pixels) value = static_cast<uint8_t>(230 - value / 2);
      images.push_back(std::move(image));
    }
  }
  return std::make_shared<MemoryImages>(std::move(images));
}

/// A data source that fails after so many reads stands for a process that dies there: what
/// is in memory is lost, what is on disk stays.
class DyingImages final : public data::ImageSource {
 public:
  DyingImages(std::shared_ptr<data::ImageSource> images, int64_t reads)
      : images_(std::move(images)), reads_left_(reads) {
    listing_ = images_->listing();
  }
  data::Image read(int64_t index) const override {
    if (reads_left_-- <= 0) throw Error("died");
    return images_->read(index);
  }
  std::vector<uint8_t> read_encoded(int64_t index) const override {
    return images_->read_encoded(index);
  }

 private:
  std::shared_ptr<data::ImageSource> images_;
  mutable std::atomic<int64_t> reads_left_;
};

}  // namespace proca::test
