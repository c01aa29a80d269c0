#pragma once

#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proca/core/error.h"
#include "proca/data/image_source.h"

namespace proca::test {

/// Images without files, called `image 0`, `image 1`, ...; some may be broken.
class MemoryImages final : public data::ImageSource {
 public:
  explicit MemoryImages(std::vector<data::Image> images, std::vector<int64_t> labels = {},
                        std::set<int64_t> broken = {})
      : images_(std::move(images)), broken_(std::move(broken)) {
    listing_.origin = "memory";
    for (size_t i = 0; i < images_.size(); ++i) {
      const int64_t label = labels.empty() ? data::kNoLabel : labels[i];
      listing_.samples.push_back({"image " + std::to_string(i), label});
      while (listing_.num_classes() <= label) {
        listing_.class_names.push_back("class " + std::to_string(listing_.num_classes()));
      }
    }
  }

  data::Image read(int64_t index) const override {
    ++num_reads_;
    if (broken_.contains(index)) throw InputError("image " + std::to_string(index) + ": is broken");
    return images_[static_cast<size_t>(index)];
  }
  std::vector<uint8_t> read_encoded(int64_t) const override {
    throw InputError("memory: holds pixels");
  }

  int64_t num_reads() const { return num_reads_; }

 private:
  std::vector<data::Image> images_;
  std::set<int64_t> broken_;
  mutable std::atomic<int64_t> num_reads_{0};
};

}  // namespace proca::test
