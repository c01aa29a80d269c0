#pragma once

// A folder of small images, and what is listed of it.

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proca/data/image_source.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::data {

class OpenImagesTest : public testing::Test {
 protected:
  /// Writes a small image whose third channel is `mark`.
  void add(const std::filesystem::path& name, uint8_t mark = 0) {
    test::write_png(folder_ / name, test::coordinate_image(2, 2, mark));
  }
  std::string at(const std::filesystem::path& name) const { return (folder_ / name).string(); }

  /// "path|label" by image with paths relative to the folder, "path" without a label.
  std::vector<std::string> summary(const ImageListing& listing) const {
    std::vector<std::string> result;
    for (const auto& [path, label] : listing.samples) {
      const auto name = std::filesystem::path(path).lexically_relative(folder_.path()).string();
      result.push_back(label == kNoLabel ? name : name + "|" + std::to_string(label));
    }
    return result;
  }

  std::string refusal(const std::filesystem::path& name, const OpenOptions& options = {}) const {
    return test::message_of([&] { open_images(folder_ / name, options); });
  }

  test::TemporaryFolder folder_;
};

}  // namespace proca::data
