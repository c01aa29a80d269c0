#include "data/loading/batch_loader.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "proca/core/error.h"

namespace proca::data {
namespace {

Batches cut(const std::vector<int64_t>& order, int64_t batch_size, LastBatch last) {
  if (batch_size < 1) throw std::invalid_argument("batches of less than one image");
  Batches batches;
  const auto count = static_cast<int64_t>(order.size());
  for (int64_t begin = 0; begin < count; begin += batch_size) {
    const int64_t end = std::min(begin + batch_size, count);
    if (end - begin < batch_size && last == LastBatch::kDrop) break;
    batches.emplace_back(order.begin() + begin, order.begin() + end);
  }
  return batches;
}

}  // namespace

Batches ordered_batches(int64_t count, int64_t batch_size) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  return cut(order, batch_size, LastBatch::kKeep);
}

Batches shuffled_batches(int64_t count, int64_t batch_size, LastBatch last, uint64_t seed,
                         std::string_view purpose, int64_t epoch) {
  RandomStream random(seed, fmt::format("shuffle {}", purpose), static_cast<uint64_t>(epoch));
  return cut(random_permutation(count, random), batch_size, last);
}

Batches training_batches(int64_t count, int64_t batch_size, uint64_t seed, std::string_view purpose,
                         int64_t epoch) {
  auto batches = shuffled_batches(count, batch_size, LastBatch::kKeep, seed, purpose, epoch);
  if (batches.empty() || batches.back().size() != 1) return batches;
  if (batches.size() == 1) {
    batches.front().push_back(batches.front().front());
    return batches;
  }
  batches[batches.size() - 2].push_back(batches.back().front());
  batches.pop_back();
  return batches;
}

BatchLoader::BatchLoader(const ImageStore& store, Batches batches, const Augmentation& augmentation,
                         uint64_t seed, int64_t epoch, int64_t threads)
    : BatchLoader(store, batches, augmentation, seed, std::vector<int64_t>(batches.size(), epoch),
                  threads) {}

BatchLoader::BatchLoader(const ImageStore& store, Batches batches, const Augmentation& augmentation,
                         uint64_t seed, std::vector<int64_t> epochs, int64_t threads)
    : store_(store),
      batches_(std::move(batches)),
      augmentation_(augmentation),
      seed_(seed),
      epochs_(std::move(epochs)),
      depth_(static_cast<size_t>(2 * std::max<int64_t>(1, threads))) {
  for (int64_t i = 0; i < std::max<int64_t>(1, threads); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

BatchLoader::~BatchLoader() {
  for (auto& thread : threads_) thread.request_stop();
}

std::optional<PixelBatch> BatchLoader::next() {
  if (next_to_hand_out_ >= batches_.size()) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ready_.contains(next_to_hand_out_); });
  auto slot = std::move(ready_.extract(next_to_hand_out_++).mapped());
  changed_.notify_all();
  if (slot.failure) std::rethrow_exception(slot.failure);
  return std::move(slot.batch);
}

void BatchLoader::work(const std::stop_token& stop) {
  for (;;) {
    size_t index = 0;
    {
      std::unique_lock lock(mutex_);
      const bool go = changed_.wait(lock, stop, [&] {
        return next_to_prepare_ >= batches_.size() || next_to_prepare_ < next_to_hand_out_ + depth_;
      });
      if (!go || next_to_prepare_ >= batches_.size()) return;
      index = next_to_prepare_++;
    }
    Slot slot;
    try {
      slot.batch = prepare(index);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ready_.emplace(index, std::move(slot));
    changed_.notify_all();
  }
}

PixelBatch BatchLoader::prepare(size_t index) const {
  PixelBatch batch;
  batch.indexes = batches_[index];
  batch.image_size = augmentation_.image_size;
  const int64_t bytes = example_bytes(augmentation_);
  batch.pixels.resize(static_cast<size_t>(bytes * batch.size()));
  Image scratch;
  for (int64_t i = 0; i < batch.size(); ++i) {
    const int64_t image = batch.indexes[static_cast<size_t>(i)];
    const auto& sample = store_.sample(image);
    batch.labels.push_back(sample.label);
    auto random = augmentation_stream(seed_, epochs_.at(index), image);
    try {
      augmentation_.apply(store_.load(image, scratch), random,
                          std::span(batch.pixels)
                              .subspan(static_cast<size_t>(i * bytes), static_cast<size_t>(bytes)));
    } catch (const InputError& error) {
      // The store names the file when it cannot decode it; a crop that does not fit cannot.
      const std::string what = error.what();
      if (what.find(sample.path) != std::string::npos) throw;
      throw InputError(fmt::format("{}: {}", sample.path, what));
    }
  }
  return batch;
}

}  // namespace proca::data
