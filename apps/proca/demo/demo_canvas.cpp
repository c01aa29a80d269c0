#include "demo/demo_canvas.h"

#include "proca/core/error.h"

#ifdef PROCA_WITH_CAIRO

#include <algorithm>
#include <cmath>

#include <cairo.h>
#include <fmt/format.h>

#include "proca/data/image.h"

namespace proca::demo {
namespace {

/// Pictures are drawn at twice their size and averaged down: cairo's own
/// smoothing alone leaves steps in lines as thin as a pixel.
constexpr int64_t kSupersampling = 2;

struct Rgb {
  double red, green, blue;
};

Rgb to_rgb(const Color& color) {
  const double lightness = std::clamp(color.lightness, 0.0, 1.0);
  const double chroma = (1 - std::abs(2 * lightness - 1)) * std::clamp(color.saturation, 0.0, 1.0);
  const auto channel = [&](double shift) {
    const double turn = color.hue + shift - std::floor(color.hue + shift);
    return lightness + chroma * (std::clamp(std::abs(turn * 6 - 3) - 1, 0.0, 1.0) - 0.5);
  };
  return {channel(0), channel(2.0 / 3), channel(1.0 / 3)};
}

void trace(cairo_t* context, const Path& path) {
  cairo_new_path(context);
  for (const auto& [verb, points] : path.commands()) {
    switch (verb) {
      case Path::Verb::kMove:
        cairo_move_to(context, points[0].x, points[0].y);
        break;
      case Path::Verb::kLine:
        cairo_line_to(context, points[0].x, points[0].y);
        break;
      case Path::Verb::kCurve:
        cairo_curve_to(context, points[0].x, points[0].y, points[1].x, points[1].y, points[2].x,
                       points[2].y);
        break;
      case Path::Verb::kClose:
        cairo_close_path(context);
        break;
    }
  }
}

/// Makes `paint` the source of what is drawn next, fitted to the traced path.
void set_source(cairo_t* context, const Paint& paint) {
  const auto& [color, opacity, contrast, light_angle] = paint;
  if (contrast == 0) {
    const Rgb flat = to_rgb(color);
    cairo_set_source_rgba(context, flat.red, flat.green, flat.blue, opacity);
    return;
  }
  double left, top, right, bottom;
  cairo_path_extents(context, &left, &top, &right, &bottom);
  const double x = (left + right) / 2, y = (top + bottom) / 2;
  const double reach = std::max(right - left, bottom - top) / 2 + 1e-3;
  const double dx = reach * std::cos(light_angle), dy = reach * std::sin(light_angle);
  Color lit = color, shaded = color;
  lit.lightness += (1 - color.lightness) * contrast * 0.6;
  shaded.lightness *= 1 - contrast;
  const Rgb from = to_rgb(lit), to = to_rgb(shaded);
  cairo_pattern_t* gradient = cairo_pattern_create_linear(x + dx, y + dy, x - dx, y - dy);
  cairo_pattern_add_color_stop_rgba(gradient, 0, from.red, from.green, from.blue, opacity);
  cairo_pattern_add_color_stop_rgba(gradient, 1, to.red, to.green, to.blue, opacity);
  cairo_set_source(context, gradient);
  cairo_pattern_destroy(gradient);  // the context holds on to it
}

}  // namespace

struct Canvas::Surface {
  explicit Surface(int64_t picture_size)
      : size(picture_size * kSupersampling),
        image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(size),
                                         static_cast<int>(size))),
        context(cairo_create(image)) {}
  ~Surface() {
    cairo_destroy(context);
    cairo_surface_destroy(image);
  }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  /// cairo remembers its first failure and ignores what follows it.
  void check() const {
    const cairo_status_t status = cairo_status(context);
    if (status != CAIRO_STATUS_SUCCESS) {
      throw Error(fmt::format("drawing failed: {}", cairo_status_to_string(status)));
    }
  }

  int64_t size;
  cairo_surface_t* image;
  cairo_t* context;
};

Canvas::Canvas(int64_t size) : surface_(std::make_unique<Surface>(size)) {
  cairo_t* context = surface_->context;
  cairo_scale(context, kSupersampling, kSupersampling);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND);
  surface_->check();
}

Canvas::~Canvas() = default;

void Canvas::fill(const Path& path, const Paint& paint) {
  trace(surface_->context, path);
  set_source(surface_->context, paint);
  cairo_fill(surface_->context);
}

void Canvas::stroke(const Path& path, double width, const Paint& paint) {
  trace(surface_->context, path);
  set_source(surface_->context, paint);
  cairo_set_line_width(surface_->context, width);
  cairo_stroke(surface_->context);
}

std::vector<float> Canvas::pixels() const {
  surface_->check();
  cairo_surface_flush(surface_->image);
  const unsigned char* data = cairo_image_surface_get_data(surface_->image);
  const int stride = cairo_image_surface_get_stride(surface_->image);
  const int64_t size = surface_->size / kSupersampling;
  std::vector<float> result(static_cast<size_t>(size * size * data::Image::kChannels));
  for (int64_t y = 0; y < surface_->size; ++y) {
    // RGB24 is a native 32-bit word per pixel, red in bits 16 to 23.
    const auto* row = reinterpret_cast<const uint32_t*>(data + y * stride);
    for (int64_t x = 0; x < surface_->size; ++x) {
      const int64_t pixel = y / kSupersampling * size + x / kSupersampling;
      float* sums = &result[static_cast<size_t>(pixel * data::Image::kChannels)];
      sums[0] += static_cast<float>(row[x] >> 16 & 255);
      sums[1] += static_cast<float>(row[x] >> 8 & 255);
      sums[2] += static_cast<float>(row[x] & 255);
    }
  }
  for (auto& value : result) value /= kSupersampling * kSupersampling;
  return result;
}

}  // namespace proca::demo

#else

namespace proca::demo {

struct Canvas::Surface {};

Canvas::Canvas(int64_t) {
  throw Error(
      "the demo data cannot be drawn: this program was built without cairo (install "
      "libcairo2-dev and build it again)");
}
Canvas::~Canvas() = default;
void Canvas::fill(const Path&, const Paint&) {}
void Canvas::stroke(const Path&, double, const Paint&) {}
std::vector<float> Canvas::pixels() const { return {}; }

}  // namespace proca::demo

#endif
