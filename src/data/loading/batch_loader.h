#pragma once

#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "proca/data/augmentation.h"
#include "proca/data/image_store.h"

namespace proca::data {

/// Indexes of the images of each batch.
using Batches = std::vector<std::vector<int64_t>>;

/// What happens to the images that do not fill a batch.
enum class LastBatch { kKeep, kDrop };

/// The numbers 0 .. count-1 cut into batches, in order; the last may be smaller.
/// Here and below a batch size below 1 is `std::invalid_argument`.
Batches ordered_batches(int64_t count, int64_t batch_size);

/// The numbers 0 .. count-1, shuffled and cut into batches: a pure function of its
/// arguments. `purpose` ("source", "target") gives each data set an order of its own.
Batches shuffled_batches(int64_t count, int64_t batch_size, LastBatch last, uint64_t seed,
                         std::string_view purpose, int64_t epoch);

/// The same for training: every image is used, and no batch has a single image, which
/// has no batch statistics. A last batch of one joins the batch before it; where there
/// is only one image, it is taken twice.
Batches training_batches(int64_t count, int64_t batch_size, uint64_t seed, std::string_view purpose,
                         int64_t epoch);

/// Pixels of a batch, ready to become a tensor.
struct PixelBatch {
  std::vector<uint8_t> pixels;   ///< [N, size, size, 3]
  std::vector<int64_t> labels;   ///< by image; `kNoLabel` where there is none
  std::vector<int64_t> indexes;  ///< in the store
  int64_t image_size = 0;
  int64_t size() const { return static_cast<int64_t>(indexes.size()); }
};

/// Prepares batches ahead of their use, on its own threads, and returns them in order.
/// What a batch contains depends on the arguments only, not on the number of threads.
///
/// Example:
/// ```
/// const auto batches = training_batches(store.size(), 32, seed, "source", epoch);
/// BatchLoader loader(store, batches, augmentation, seed,
///                    std::vector<int64_t>(batches.size(), epoch), threads);
/// while (auto batch = loader.next()) train(*batch);
/// ```
class BatchLoader {
 public:
  /// `epochs` has one number per batch, from which the random choices for its images are
  /// drawn. The store must outlive the loader. Less than one thread counts as one.
  BatchLoader(const ImageStore& store, Batches batches, const Augmentation& augmentation,
              uint64_t seed, std::vector<int64_t> epochs, int64_t threads);
  /// Stops the threads; batches not asked for are dropped.
  ~BatchLoader();

  /// The next batch, or nothing after the last. Throws what preparing it threw:
  /// an `InputError` names the image.
  std::optional<PixelBatch> next();

 private:
  void work(const std::stop_token& stop);
  PixelBatch prepare(size_t index) const;

  const ImageStore& store_;
  Batches batches_;
  Augmentation augmentation_;
  uint64_t seed_;
  std::vector<int64_t> epochs_;  // by batch
  size_t depth_;                 // how many batches may be ready or in preparation

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::promise<PixelBatch>> results_;  // by batch
  size_t next_to_prepare_ = 0;
  size_t next_to_hand_out_ = 0;
  std::vector<std::jthread> threads_;  // last, so that they end before the rest goes
};

}  // namespace proca::data
