#include "demo_domains.h"

#ifdef PROCA_WITH_CAIRO

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include <cairo.h>

#include "proca/core/error.h"

namespace proca::data {
namespace {

// The strength of everything that separates photos from sketches. Measured with
// a small ResNet trained on sketches; see the header for what was aimed at.
constexpr double kEdgeStrengthMin = 0.35, kEdgeStrengthMax = 0.8;
constexpr double kClutterOpacityMin = 0.15, kClutterOpacityMax = 0.5;
constexpr int64_t kClutterCountMin = 3, kClutterCountMax = 7;
constexpr double kBlurMax = 0.6;                 // standard deviation, pixels of a 32-pixel picture
constexpr double kNoiseMin = 2, kNoiseMax = 10;  // standard deviation, grey levels
constexpr double kDarkBackground = 0.3;          // share of pictures taken at night

/// Pictures are drawn at twice their size and averaged down.
constexpr int64_t kSupersampling = 2;

struct Rgb {
  double red, green, blue;
};

Rgb to_rgb(const DemoColor& color) {
  const double lightness = std::clamp(color.lightness, 0.0, 1.0);
  const double chroma = (1 - std::abs(2 * lightness - 1)) * std::clamp(color.saturation, 0.0, 1.0);
  const auto channel = [&](double shift) {
    const double turn = color.hue + shift - std::floor(color.hue + shift);
    return lightness + chroma * (std::clamp(std::abs(turn * 6 - 3) - 1, 0.0, 1.0) - 0.5);
  };
  return {channel(0), channel(2.0 / 3), channel(1.0 / 3)};
}

/// A cairo surface and context that end with the object.
class Canvas {
 public:
  explicit Canvas(int64_t size)
      : size_(size * kSupersampling),
        surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(size_),
                                            static_cast<int>(size_))),
        context_(cairo_create(surface_.get())) {
    if (cairo_status(context_.get()) != CAIRO_STATUS_SUCCESS) {
      throw Error(cairo_status_to_string(cairo_status(context_.get())));
    }
    cairo_scale(context_.get(), kSupersampling, kSupersampling);
    cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(context_.get(), CAIRO_LINE_CAP_ROUND);
  }

  cairo_t* context() { return context_.get(); }

  void trace(const DemoPath& path) {
    cairo_new_path(context());
    for (const auto& [verb, points] : path.commands()) {
      switch (verb) {
        case DemoPath::Verb::kMove:
          cairo_move_to(context(), points[0].x, points[0].y);
          break;
        case DemoPath::Verb::kLine:
          cairo_line_to(context(), points[0].x, points[0].y);
          break;
        case DemoPath::Verb::kCurve:
          cairo_curve_to(context(), points[0].x, points[0].y, points[1].x, points[1].y, points[2].x,
                         points[2].y);
          break;
        case DemoPath::Verb::kClose:
          cairo_close_path(context());
          break;
      }
    }
  }

  void set_color(const Rgb& color, double alpha = 1) {
    cairo_set_source_rgba(context(), color.red, color.green, color.blue, alpha);
  }

  /// Strokes the traced path and keeps it.
  void stroke(double width) {
    cairo_set_line_width(context(), width);
    cairo_stroke_preserve(context());
  }

  /// The picture averaged down, channel values 0 to 255 in the order of `Image`.
  std::vector<float> pixels() {
    cairo_surface_flush(surface_.get());
    const unsigned char* data = cairo_image_surface_get_data(surface_.get());
    const int stride = cairo_image_surface_get_stride(surface_.get());
    const int64_t size = size_ / kSupersampling;
    std::vector<float> result(static_cast<size_t>(size * size * Image::kChannels));
    for (int64_t y = 0; y < size_; ++y) {
      // RGB24 is a native 32-bit word per pixel, red in bits 16 to 23.
      const auto* row = reinterpret_cast<const uint32_t*>(data + y * stride);
      for (int64_t x = 0; x < size_; ++x) {
        float* pixel = &result[static_cast<size_t>(
            (y / kSupersampling * size + x / kSupersampling) * Image::kChannels)];
        pixel[0] += static_cast<float>(row[x] >> 16 & 255);
        pixel[1] += static_cast<float>(row[x] >> 8 & 255);
        pixel[2] += static_cast<float>(row[x] & 255);
      }
    }
    for (auto& value : result) value /= kSupersampling * kSupersampling;
    return result;
  }

 private:
  struct Release {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };
  int64_t size_;
  std::unique_ptr<cairo_surface_t, Release> surface_;
  std::unique_ptr<cairo_t, Release> context_;
};

Image to_image(const std::vector<float>& pixels, int64_t size) {
  Image image = Image::black(size, size);
  std::transform(pixels.begin(), pixels.end(), image.pixels.begin(), [](float value) {
    return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
  });
  return image;
}

/// A linear gradient along the direction of the light, over the traced path.
void set_gradient(Canvas& canvas, const DemoColor& color, double light_angle, double contrast) {
  double left, top, right, bottom;
  cairo_path_extents(canvas.context(), &left, &top, &right, &bottom);
  const double x = (left + right) / 2, y = (top + bottom) / 2;
  const double reach = std::max(right - left, bottom - top) / 2 + 1e-3;
  const double dx = reach * std::cos(light_angle), dy = reach * std::sin(light_angle);
  DemoColor lit = color, shaded = color;
  lit.lightness = color.lightness + (1 - color.lightness) * contrast * 0.6;
  shaded.lightness = color.lightness * (1 - contrast);
  const Rgb from = to_rgb(lit), to = to_rgb(shaded);
  const std::unique_ptr<cairo_pattern_t, void (*)(cairo_pattern_t*)> gradient(
      cairo_pattern_create_linear(x + dx, y + dy, x - dx, y - dy), cairo_pattern_destroy);
  cairo_pattern_add_color_stop_rgb(gradient.get(), 0, from.red, from.green, from.blue);
  cairo_pattern_add_color_stop_rgb(gradient.get(), 1, to.red, to.green, to.blue);
  cairo_set_source(canvas.context(), gradient.get());
}

DemoColor background_color(RandomStream& random, double lightness) {
  return {random.uniform(), random.uniform(0.1, 0.5), lightness + random.uniform(-0.1, 0.1)};
}

/// Blobs, boxes and streaks of muted colour all over the picture.
void paint_background(Canvas& canvas, double size, double lightness, double light_angle,
                      RandomStream& random) {
  canvas.trace(DemoPath::rectangle(0, 0, size, size));
  set_gradient(canvas, background_color(random, lightness), light_angle, random.uniform(0.1, 0.4));
  cairo_fill(canvas.context());
  const int64_t count =
      kClutterCountMin + random.uniform_int(kClutterCountMax - kClutterCountMin + 1);
  for (int64_t i = 0; i < count; ++i) {
    const DemoPoint center{random.uniform(0, size), random.uniform(0, size)};
    const double reach = size * random.uniform(0.08, 0.35), angle = random.uniform(0, 3.2);
    DemoPath path;
    switch (random.uniform_int(3)) {
      case 0:
        path = DemoPath::ellipse({}, reach, reach * random.uniform(0.4, 1));
        break;
      case 1:
        path = DemoPath::rectangle(-reach, -reach * 0.7, reach, reach * random.uniform(0.2, 1));
        break;
      default:
        path = DemoPath::rectangle(-size, -reach * 0.15, size, reach * 0.15);
        break;
    }
    path.transform([&](DemoPoint p) {
      return DemoPoint{center.x + std::cos(angle) * p.x - std::sin(angle) * p.y,
                       center.y + std::sin(angle) * p.x + std::cos(angle) * p.y};
    });
    canvas.trace(path);
    canvas.set_color(to_rgb(background_color(random, lightness + random.uniform(-0.2, 0.2))),
                     random.uniform(kClutterOpacityMin, kClutterOpacityMax));
    cairo_fill(canvas.context());
  }
}

/// A soft shadow: the silhouette, several times, each a little further away.
void paint_shadow(Canvas& canvas, const DemoShape& shape, double size, double light_angle) {
  for (int layer = 1; layer <= 3; ++layer) {
    const double distance = size * 0.012 * layer;
    cairo_save(canvas.context());
    cairo_translate(canvas.context(), -distance * std::cos(light_angle),
                    -distance * std::sin(light_angle));
    canvas.set_color({0, 0, 0}, 0.12);
    for (const auto& part : shape.parts) {
      canvas.trace(part.path);
      part.kind == DemoPart::Kind::kSolid ? cairo_fill_preserve(canvas.context())
                                          : canvas.stroke(part.width);
    }
    cairo_restore(canvas.context());
  }
}

void paint_thing(Canvas& canvas, const DemoShape& shape, double size, double light_angle,
                 RandomStream& random) {
  const double contrast = random.uniform(0.2, 0.5);
  const double edge = random.uniform(kEdgeStrengthMin, kEdgeStrengthMax);
  const double edge_width = size * random.uniform(0.02, 0.04);
  for (const auto& part : shape.parts) {
    DemoColor shade = part.color;
    shade.lightness *= 0.3;
    canvas.trace(part.path);
    if (part.kind == DemoPart::Kind::kTube) {
      canvas.set_color(to_rgb(shade), edge);
      canvas.stroke(part.width + edge_width);
    }
    set_gradient(canvas, part.color, light_angle, contrast);
    if (part.kind == DemoPart::Kind::kSolid) {
      cairo_fill_preserve(canvas.context());
      canvas.set_color(to_rgb(shade), edge);
      canvas.stroke(edge_width);
    } else {
      canvas.stroke(part.width);
    }
  }
}

/// Separable Gaussian blur; the border pixels are repeated outwards.
void blur(std::vector<float>& pixels, int64_t size, double deviation) {
  if (deviation < 0.1) return;
  const auto radius = static_cast<int64_t>(std::ceil(2.5 * deviation));
  std::vector<float> kernel;
  float total = 0;
  for (int64_t i = -radius; i <= radius; ++i) {
    const double position = static_cast<double>(i) / deviation;
    kernel.push_back(static_cast<float>(std::exp(-position * position / 2)));
    total += kernel.back();
  }
  for (auto& weight : kernel) weight /= total;
  const int64_t row = size * Image::kChannels;
  for (const int64_t stride : {Image::kChannels, row}) {
    std::vector<float> result(pixels.size());
    for (int64_t at = 0; at < static_cast<int64_t>(pixels.size()); ++at) {
      const int64_t position = at / stride % size;
      for (int64_t i = -radius; i <= radius; ++i) {
        const int64_t moved = std::clamp<int64_t>(position + i, 0, size - 1) - position;
        result[static_cast<size_t>(at)] += kernel[static_cast<size_t>(i + radius)] *
                                           pixels[static_cast<size_t>(at + moved * stride)];
      }
    }
    pixels = std::move(result);
  }
}

/// Exposure, colour cast, uneven light and sensor noise.
void develop(std::vector<float>& pixels, int64_t size, double light_angle, RandomStream& random) {
  const double exposure = random.uniform(0.75, 1.15), unevenness = random.uniform(0, 0.3);
  const double noise = random.uniform(kNoiseMin, kNoiseMax);
  double cast[Image::kChannels];
  for (auto& value : cast) value = exposure * random.uniform(0.88, 1.12);
  for (int64_t y = 0; y < size; ++y) {
    for (int64_t x = 0; x < size; ++x) {
      const double u = 2 * static_cast<double>(x) / static_cast<double>(size) - 1;
      const double v = 2 * static_cast<double>(y) / static_cast<double>(size) - 1;
      const double light = 1 + unevenness * (u * std::cos(light_angle) + v * std::sin(light_angle));
      for (int64_t c = 0; c < Image::kChannels; ++c) {
        float& value = pixels[static_cast<size_t>((y * size + x) * Image::kChannels + c)];
        value = static_cast<float>(value * light * cast[c] + noise * random.normal());
      }
    }
  }
}

}  // namespace

Image render_sketch(const DemoShape& shape, int64_t size, RandomStream& random) {
  Canvas canvas(size);
  canvas.set_color({1, 1, 1});
  cairo_paint(canvas.context());
  const double pen = static_cast<double>(size) * random.uniform(0.03, 0.05);
  const double grey = random.uniform(0, 0.25);
  const Rgb ink{grey, grey, grey}, paper{1, 1, 1};
  for (const auto& part : shape.parts) {
    canvas.trace(part.path);
    switch (part.kind) {
      case DemoPart::Kind::kSolid:
        // Paper inside, so that parts in front hide the lines behind them.
        canvas.set_color(paper);
        cairo_fill_preserve(canvas.context());
        canvas.set_color(ink);
        canvas.stroke(pen);
        break;
      case DemoPart::Kind::kTube:
        canvas.set_color(ink);
        canvas.stroke(part.width + pen);
        canvas.set_color(paper);
        canvas.stroke(std::max(part.width - pen, 0.0));
        break;
      case DemoPart::Kind::kLine:
        canvas.set_color(ink);
        canvas.stroke(pen);
        break;
    }
  }
  return to_image(canvas.pixels(), size);
}

Image render_photo(const DemoShape& shape, int64_t size, RandomStream& random) {
  Canvas canvas(size);
  const auto extent = static_cast<double>(size);
  const double light_angle = random.uniform(-0.95, -0.05) * std::numbers::pi;  // from above
  const double lightness =
      random.uniform() < kDarkBackground ? random.uniform(0.15, 0.3) : random.uniform(0.65, 0.9);
  paint_background(canvas, extent, lightness, light_angle, random);
  paint_shadow(canvas, shape, extent, light_angle);
  paint_thing(canvas, shape, extent, light_angle, random);
  auto pixels = canvas.pixels();
  blur(pixels, size, random.uniform(0, kBlurMax) * extent / 32);
  develop(pixels, size, light_angle, random);
  return to_image(pixels, size);
}

}  // namespace proca::data

#else

#include "proca/core/error.h"

namespace proca::data {
namespace {
[[noreturn]] void refuse() {
  throw Error(
      "the demo data cannot be drawn: this program was built without cairo (install "
      "libcairo2-dev and build again)");
}
}  // namespace

Image render_sketch(const DemoShape&, int64_t, RandomStream&) { refuse(); }
Image render_photo(const DemoShape&, int64_t, RandomStream&) { refuse(); }

}  // namespace proca::data

#endif
