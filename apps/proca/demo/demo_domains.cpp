#include "demo/demo_domains.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "demo/demo_canvas.h"

namespace proca::demo {
namespace {

// How far the two domains are apart. The values were found by training a small
// ResNet on sketches. If every sketch were pure black on pure white, the network
// would learn darkness itself as a feature and predict one class for every photo;
// pale washes, tinted paper and light pens make it learn shapes.
constexpr double kPenMin = 0.022;  // width of a line, as a share of the picture's
constexpr double kPenMax = 0.06;
constexpr double kInkLightnessMin = 0.05;
constexpr double kInkLightnessMax = 0.55;
constexpr double kPaperLightness = 0.88;  // at least
constexpr double kWashedShare = 0.55;     // of the sketches have pale colour inside the lines
constexpr double kWashLightness = 0.55;   // at least
constexpr double kGrainMax = 4;           // standard deviation, grey levels

constexpr double kBackgroundLightness = 0.88;
constexpr double kBackgroundSaturation = 0.35;
constexpr double kClutterMin = 0.15;  // opacity of the things in the background
constexpr double kClutterMax = 0.5;
constexpr double kShadowOpacity = 0.12;
constexpr double kRimMin = 0.4;  // opacity of the dark rim of every part
constexpr double kRimMax = 0.9;
constexpr double kUnevenLightMax = 0.15;
constexpr double kBlurMax = 0.6;  // standard deviation, pixels of a 32-pixel picture
constexpr double kNoiseMin = 2;   // standard deviation, grey levels
constexpr double kNoiseMax = 8;

data::Image to_image(const std::vector<float>& pixels, int64_t size) {
  data::Image image = data::Image::black(size, size);
  std::transform(pixels.begin(), pixels.end(), image.pixels.begin(), [](float value) {
    return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  });
  return image;
}

Color background_color(double lightness, RandomStream& random) {
  return {random.uniform(), random.uniform(0.1, kBackgroundSaturation),
          lightness + random.uniform(-0.1, 0.1)};
}

/// A blob, a box or a streak around the origin.
Path clutter_path(double size, RandomStream& random) {
  const double reach = size * random.uniform(0.08, 0.35);
  switch (random.uniform_int(3)) {
    case 0:
      return Path::ellipse({}, reach, reach * random.uniform(0.4, 1));
    case 1:
      return Path::rectangle(-reach, -reach * 0.7, reach, reach * random.uniform(0.2, 1));
    default:
      return Path::rectangle(-size, -reach * 0.15, size, reach * 0.15);
  }
}

void paint_background(Canvas& canvas, double size, double light_angle, RandomStream& random) {
  const double lightness = kBackgroundLightness + random.uniform(-0.1, 0.1);
  canvas.fill(Path::rectangle(0, 0, size, size), {.color = background_color(lightness, random),
                                                  .contrast = random.uniform(0.1, 0.4),
                                                  .light_angle = light_angle});
  const int64_t count = 3 + random.uniform_int(5);
  for (int64_t i = 0; i < count; ++i) {
    Path path = clutter_path(size, random);
    path.place({.center = {random.uniform(0, size), random.uniform(0, size)},
                .angle = random.uniform(0, std::numbers::pi)});
    canvas.fill(path, {.color = background_color(lightness + random.uniform(-0.2, 0.2), random),
                       .opacity = random.uniform(kClutterMin, kClutterMax)});
  }
}

/// A soft shadow: the silhouette several times, each a little further away.
void paint_shadow(Canvas& canvas, const Shape& shape, double size, double light_angle) {
  const Paint black{.color = {}, .opacity = kShadowOpacity};
  Shape shadow = shape;
  for (int layer = 0; layer < 3; ++layer) {
    const double distance = size * 0.012;
    shadow.place(
        {.center = {-distance * std::cos(light_angle), -distance * std::sin(light_angle)}});
    for (const auto& part : shadow.parts) {
      if (part.kind == Part::Kind::kSolid) {
        canvas.fill(part.path, black);
      } else {
        canvas.stroke(part.path, part.width, black);
      }
    }
  }
}

void paint_thing(Canvas& canvas, const Shape& shape, double size, double light_angle,
                 RandomStream& random) {
  const double contrast = random.uniform(0.2, 0.5);
  const double rim_opacity = random.uniform(kRimMin, kRimMax);
  const double rim_width = size * random.uniform(0.02, 0.04);
  for (const auto& part : shape.parts) {
    const Paint paint{.color = part.color, .contrast = contrast, .light_angle = light_angle};
    Paint rim{.color = part.color, .opacity = rim_opacity};
    rim.color.lightness *= 0.25;
    switch (part.kind) {
      case Part::Kind::kSolid:
        canvas.fill(part.path, paint);
        canvas.stroke(part.path, rim_width, rim);
        break;
      case Part::Kind::kTube:
        canvas.stroke(part.path, part.width + rim_width, rim);
        canvas.stroke(part.path, part.width, paint);
        break;
      case Part::Kind::kLine:
        canvas.stroke(part.path, part.width, paint);
        break;
    }
  }
}

/// Separable Gaussian blur; the border pixels are repeated outwards.
void blur(std::vector<float>& pixels, int64_t size, double deviation) {
  if (deviation < 0.1) return;  // would change nothing
  const auto radius = static_cast<int64_t>(std::ceil(2.5 * deviation));
  std::vector<float> kernel;
  float total = 0;
  for (int64_t i = -radius; i <= radius; ++i) {
    const double position = static_cast<double>(i) / deviation;
    kernel.push_back(static_cast<float>(std::exp(-position * position / 2)));
    total += kernel.back();
  }
  for (const int64_t stride : {data::Image::kChannels, size * data::Image::kChannels}) {
    std::vector<float> result(pixels.size());
    for (int64_t at = 0; at < static_cast<int64_t>(pixels.size()); ++at) {
      const int64_t position = at / stride % size;
      for (int64_t i = -radius; i <= radius; ++i) {
        const int64_t moved = std::clamp<int64_t>(position + i, 0, size - 1) - position;
        result[static_cast<size_t>(at)] += kernel[static_cast<size_t>(i + radius)] / total *
                                           pixels[static_cast<size_t>(at + moved * stride)];
      }
    }
    pixels = std::move(result);
  }
}

/// Exposure, colour cast, uneven light and sensor noise.
void develop(std::vector<float>& pixels, int64_t size, double light_angle, RandomStream& random) {
  const double exposure = random.uniform(0.92, 1.1);
  const double unevenness = random.uniform(0, kUnevenLightMax);
  const double noise = random.uniform(kNoiseMin, kNoiseMax);
  double cast[data::Image::kChannels];
  for (auto& value : cast) value = exposure * random.uniform(0.92, 1.08);
  const double middle = static_cast<double>(size) / 2;
  for (int64_t y = 0; y < size; ++y) {
    for (int64_t x = 0; x < size; ++x) {
      const double towards = (static_cast<double>(x) / middle - 1) * std::cos(light_angle) +
                             (static_cast<double>(y) / middle - 1) * std::sin(light_angle);
      for (int64_t c = 0; c < data::Image::kChannels; ++c) {
        float& value = pixels[static_cast<size_t>((y * size + x) * data::Image::kChannels + c)];
        value = static_cast<float>(value * (1 + unevenness * towards) * cast[c] +
                                   noise * random.normal());
      }
    }
  }
}

}  // namespace

data::Image render_sketch(const Shape& shape, int64_t size, RandomStream& random) {
  Canvas canvas(size);
  const auto extent = static_cast<double>(size);
  const double pen = extent * random.uniform(kPenMin, kPenMax);
  const Paint ink{.color = {random.uniform(), random.uniform(0, 0.4),
                            random.uniform(kInkLightnessMin, kInkLightnessMax)}};
  const Paint paper{
      .color = {random.uniform(), random.uniform(0, 0.3), random.uniform(kPaperLightness, 1)}};
  const bool washed = random.uniform() < kWashedShare;
  // Something is always painted inside, so that parts in front hide the lines
  // behind them.
  const auto inside = [&]() -> Paint {
    if (!washed) return paper;
    return {.color = {random.uniform(), random.uniform(0, 0.5), random.uniform(kWashLightness, 1)}};
  };
  canvas.fill(Path::rectangle(0, 0, extent, extent), paper);
  for (const auto& part : shape.parts) {
    switch (part.kind) {
      case Part::Kind::kSolid:
        canvas.fill(part.path, inside());
        canvas.stroke(part.path, pen, ink);
        break;
      case Part::Kind::kTube:
        canvas.stroke(part.path, part.width + pen, ink);
        canvas.stroke(part.path, std::max(part.width - pen, 0.0), inside());
        break;
      case Part::Kind::kLine:
        canvas.stroke(part.path, pen, ink);
        break;
    }
  }
  auto pixels = canvas.pixels();
  const double grain = random.uniform(0, kGrainMax);
  for (auto& value : pixels) value += static_cast<float>(grain * random.normal());
  return to_image(pixels, size);
}

data::Image render_photo(const Shape& shape, int64_t size, RandomStream& random) {
  Canvas canvas(size);
  const auto extent = static_cast<double>(size);
  const double light_angle = random.uniform(-0.95, -0.05) * std::numbers::pi;  // from above
  paint_background(canvas, extent, light_angle, random);
  paint_shadow(canvas, shape, extent, light_angle);
  paint_thing(canvas, shape, extent, light_angle, random);
  auto pixels = canvas.pixels();
  blur(pixels, size, random.uniform(0, kBlurMax) * extent / 32);
  develop(pixels, size, light_angle, random);
  return to_image(pixels, size);
}

}  // namespace proca::demo
