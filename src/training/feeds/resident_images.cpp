#include "training/feeds/resident_images.h"

#include <algorithm>

#include "core/parallel.h"
#include "core/scope_timer.h"
#include "models/weights/device_copy.h"
#include "proca/core/interrupt.h"
#include "proca/data/crop.h"

namespace proca::training {
namespace {

using Place = ResidentImages::Place;

// Large enough for the full bandwidth of the bus; small enough to be filled while the previous
// piece is copied, and for pinned memory, which takes half a millisecond per megabyte.
constexpr int64_t kPieceBytes = int64_t{8} << 20;

int64_t pixels_in(const Place& place) { return place.width * place.height; }

// Images whose size is known only after loading are loaded twice, unless they are in memory.
std::vector<Place> lay_out(const data::ImageStore& store, int64_t threads) {
  std::vector<Place> places(static_cast<size_t>(store.size()));
  if (const auto side = store.common_side()) {
    std::fill(places.begin(), places.end(), Place{0, *side, *side});
  } else {
    parallel_for(store.size(), threads, [&](int64_t i) {
      throw_if_interrupted("stopped while decoding");
      data::Image scratch;
      const auto image = store.load(i, scratch);
      places[static_cast<size_t>(i)] = {0, image.width, image.height};
    });
  }
  int64_t next = 0;
  for (auto& place : places) {
    place.first = next;
    next += pixels_in(place);
  }
  return places;
}

// The end of the images, from `begin` on, that make one piece.
size_t piece_end(const std::vector<Place>& places, size_t begin) {
  int64_t bytes = 0;
  size_t end = begin;
  while (end < places.size()) {
    bytes += data::image_bytes(places[end].width, places[end].height);
    if (end > begin && bytes > kPieceBytes) break;
    ++end;
  }
  return end;
}

}  // namespace

std::shared_ptr<const ResidentImages> ResidentImages::load(const data::ImageStore& store,
                                                           torch::Device device,
                                                           int64_t budget_bytes, int64_t threads) {
  const ScopeTimer timer("images to the device");
  auto places = lay_out(store, threads);
  const int64_t num_pixels = places.empty() ? 0 : places.back().first + pixels_in(places.back());
  constexpr int64_t kChannels = data::Image::kChannels;
  if (num_pixels * kChannels > budget_bytes) return nullptr;
  const auto pixels =
      torch::empty({num_pixels, kChannels}, torch::dtype(torch::kUInt8).device(device));
  for (size_t begin = 0; begin < places.size();) {
    const size_t end = piece_end(places, begin);
    const int64_t first = places[begin].first;
    const int64_t count = places[end - 1].first + pixels_in(places[end - 1]) - first;
    const auto piece = models::staging({count, kChannels}, torch::kUInt8, device);
    auto* bytes = piece.data_ptr<uint8_t>();
    parallel_for(static_cast<int64_t>(end - begin), threads, [&](int64_t i) {
      throw_if_interrupted("stopped while decoding");
      const int64_t index = static_cast<int64_t>(begin) + i;
      const auto& place = places[static_cast<size_t>(index)];
      data::Image scratch;
      const auto image = store.load(index, scratch);
      data::copy_crop(image, {0, 0, place.width, place.height}, data::Flip::kNone,
                      {bytes + (place.first - first) * kChannels,
                       static_cast<size_t>(pixels_in(place) * kChannels)});
    });
    pixels.narrow(0, first, count).copy_(piece, /*non_blocking=*/true);
    begin = end;
  }
  return std::shared_ptr<const ResidentImages>(new ResidentImages(std::move(places), pixels));
}

}  // namespace proca::training
