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
                         uint64_t seed, std::vector<int64_t> epochs, int64_t threads)
    : store_(store),
      batches_(std::move(batches)),
      augmentation_(augmentation),
      seed_(seed),
      epochs_(std::move(epochs)),
      depth_(static_cast<size_t>(2 * std::max<int64_t>(1, threads))),
      results_(batches_.size()) {
  for (int64_t i = 0; i < std::max<int64_t>(1, threads); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

BatchLoader::~BatchLoader() {
  for (auto& thread : threads_) thread.request_stop();
}

std::optional<PixelBatch> BatchLoader::next() {
  if (next_to_hand_out_ >= batches_.size()) return std::nullopt;
  auto batch = results_[next_to_hand_out_].get_future();
  batch.wait();
  {
    const std::lock_guard lock(mutex_);
    ++next_to_hand_out_;
  }
  changed_.notify_all();
  return batch.get();
}

void BatchLoader::work(const std::stop_token& stop) {
  for (;;) {
    size_t index = 0;
    {
      std::unique_lock lock(mutex_);
      const bool has_room =
          changed_.wait(lock, stop, [&] { return next_to_prepare_ < next_to_hand_out_ + depth_; });
      if (!has_room || stop.stop_requested() || next_to_prepare_ >= batches_.size()) return;
      index = next_to_prepare_++;
    }
    try {
      results_[index].set_value(prepare(index));
    } catch (...) {
      results_[index].set_exception(std::current_exception());
    }
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
      // Errors of decoding name the file already; those of cropping do not.
      const std::string what = error.what();
      if (what.find(sample.path) != std::string::npos) throw;
      throw InputError(fmt::format("{}: {}", sample.path, what));
    }
  }
  return batch;
}

}  // namespace proca::data
