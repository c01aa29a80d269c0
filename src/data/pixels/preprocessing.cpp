#include "proca/data/preprocessing.h"

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::data {

void Preprocessing::validate() const {
  const auto size = resolved_resize().size;
  if (size < image_size) {
    throw InvalidOption(
        fmt::format("--resize: {} is smaller than the crop of {} pixels", size, image_size));
  }
}

}  // namespace proca::data
