#pragma once

// Two images, and a packed file of them.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "data/source/packed_file.h"
#include "proca/core/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"
#include "support/test_images.h"

namespace proca::data {

inline constexpr PackOptions kPixels{.encoding = PackedEncoding::kPixels, .image_size = 2};
inline constexpr PackOptions kFiles{.encoding = PackedEncoding::kEncoded};

class PackedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    test::write_png(folder_ / "images/bike/a b.png", test::coordinate_image(3, 2, 1));
    test::write_png(folder_ / "images/cup/ü.png", test::coordinate_image(2, 2, 2));
    path_ = folder_ / "pack";
  }

  std::unique_ptr<ImageSource> images() const { return open_images(folder_ / "images"); }

  /// Packs the two images and lets `change` damage the bytes.
  void write_changed(const PackOptions& options, const std::function<void(std::string&)>& change) {
    write_packed_file(path_, *images(), options);
    auto bytes = read_text_file(path_);
    change(bytes);
    write_file(path_, bytes);
  }
  std::string refusal() const {
    return test::message_of([&] { open_packed_file(path_); });
  }
  std::string damage(const std::string& what) const {
    return path_.string() + ": damaged packed file: " + what;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace proca::data
