#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/load_options.h"

namespace proca::engine {

/// How many source images a state keeps, so that steps do without their folder.
struct KeepSourceOptions {
  int64_t per_class = 0;                   ///< 0: none
  int64_t max_bytes = int64_t{500} << 20;  ///< of their pixels; lowers `per_class` for all classes

  /// Declares `--keep-source` and `--keep-source-bytes`.
  void bind(OptionSet& options);
  /// How many images per class are within `max_bytes`, at most `per_class`: `counts` are those
  /// that each class has, of `size` x `size` pixels. Throws `InvalidOption` if it is not even
  /// one of each.
  int64_t fitting(const std::vector<int64_t>& counts, int64_t size) const;
};

/// Puts source images into a state whose source model is trained, instead of those that it has:
/// of each class those whose mean feature is closest to that of all (herding, by the source
/// model), at the size that source training cut its crops from. Beside them go what a step
/// needs to know of all source images: the class centres and the number of images per class.
///
/// The source model and the steps that have been done stay as they are. Does nothing with
/// `per_class` 0, or if the state keeps as many already.
///
/// Throws `InputError` when the source images are not where the state says.
void keep_source_images(const std::filesystem::path& state, const KeepSourceOptions& options,
                        const data::LoadOptions& load, const compute::ComputeOptions& compute);

}  // namespace proca::engine
