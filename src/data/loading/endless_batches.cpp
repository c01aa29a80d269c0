#include "data/loading/endless_batches.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

namespace proca::data {
namespace {

void check(int64_t count, int64_t batch_size) {
  if (count < 1) throw std::invalid_argument("endless batches of no image");
  if (batch_size < 1) throw std::invalid_argument("batches of less than one image");
}

Batches one_pass(int64_t count, int64_t batch_size, uint64_t seed, std::string_view purpose,
                 int64_t pass) {
  if (count >= batch_size) {
    return shuffled_batches(count, batch_size, LastBatch::kDrop, seed, purpose, pass);
  }
  return training_batches(count, batch_size, seed, purpose, pass);
}

}  // namespace

BatchRange endless_batches(int64_t count, int64_t batch_size, uint64_t seed,
                           std::string_view purpose, int64_t first, int64_t last) {
  check(count, batch_size);
  const int64_t per_pass = std::max<int64_t>(1, count / batch_size);
  BatchRange range;
  Batches current;
  for (int64_t i = first; i < last; ++i) {
    const int64_t pass = i / per_pass;
    if (range.passes.empty() || range.passes.back() != pass) {
      current = one_pass(count, batch_size, seed, purpose, pass);
    }
    range.batches.push_back(current.at(static_cast<size_t>(i % per_pass)));
    range.passes.push_back(pass);
  }
  return range;
}

BatchRange balanced_batches(const std::vector<int64_t>& labels, int64_t batch_size, uint64_t seed,
                            std::string_view purpose, int64_t first, int64_t last) {
  check(static_cast<int64_t>(labels.size()), batch_size);
  std::map<int64_t, std::vector<int64_t>> images_by_label;
  for (size_t i = 0; i < labels.size(); ++i) {
    images_by_label[labels[i]].push_back(static_cast<int64_t>(i));
  }
  std::vector<std::vector<int64_t>> classes;
  for (auto& [label, images] : images_by_label) classes.push_back(std::move(images));
  const auto pick = [](const auto& values, RandomStream& random) -> const auto& {
    return values[static_cast<size_t>(random.uniform_int(static_cast<int64_t>(values.size())))];
  };
  BatchRange range;
  for (int64_t i = first; i < last; ++i) {
    RandomStream random(seed, fmt::format("balanced {}", purpose), static_cast<uint64_t>(i));
    auto& batch = range.batches.emplace_back();
    for (int64_t place = 0; place < batch_size; ++place) {
      batch.push_back(pick(pick(classes, random), random));
    }
    range.passes.push_back(i);  // An image may come back in the very next batch.
  }
  return range;
}

}  // namespace proca::data
