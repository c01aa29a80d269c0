#pragma once

#include <algorithm>
#include <cstdint>

namespace proca::report {

/// How much a document holds of each seed: a page with hundreds of runs must still open.
struct Detail {
  static constexpr int64_t kMostTsne = 30;          ///< pictures; more are PCA
  static constexpr int64_t kMostPictures = 1000;    ///< more are left out
  static constexpr int64_t kMostThumbnails = 2500;  ///< of prototypes, in all
  static constexpr int64_t kMostMistakes = 400;     ///< images behind mistakes, in all

  enum class Pictures { kTsne, kPca, kNone } pictures = Pictures::kTsne;
  int64_t thumbnails_per_seed = kMostThumbnails;
  int64_t mistakes_per_seed = kMostMistakes;

  static Detail of(int64_t num_seeds, int64_t num_pictures) {
    Detail detail;
    detail.pictures = num_pictures <= kMostTsne       ? Pictures::kTsne
                      : num_pictures <= kMostPictures ? Pictures::kPca
                                                      : Pictures::kNone;
    detail.thumbnails_per_seed = kMostThumbnails / std::max<int64_t>(1, num_seeds);
    detail.mistakes_per_seed = kMostMistakes / std::max<int64_t>(1, num_seeds);
    return detail;
  }
};

}  // namespace proca::report
