#include "demo/demo_data.h"

#include <limits>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <png.h>

#include "core/files/scratch_folder.h"
#include "core/parallel.h"
#include "demo/demo_domains.h"
#include "demo/demo_shapes.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/core/random.h"

namespace proca::demo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarkerName = "demo-data.txt";
constexpr const char* kDomainNames[] = {"sketch", "photo"};

void check_range(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) {
    throw InvalidOption(
        fmt::format("demo data: {} is {}, but must be {} to {}", name, value, low, high));
  }
}

/// Size, position and tilt of the thing, the same variety in both domains.
Pose random_pose(double size, RandomStream& random) {
  const double scale = size / 2 * random.uniform(0.68, 0.88);
  const double aspect = random.uniform(0.88, 1.14);
  const double slack = size * 0.06;
  Pose pose;
  pose.center = {size / 2 + random.uniform(-slack, slack),
                 size / 2 + random.uniform(-slack, slack)};
  const double side = random.uniform() < 0.5 ? -1 : 1;  // turned to the left or to the right
  pose.scale_x = side * scale * aspect;
  pose.scale_y = scale / aspect;
  pose.angle = random.uniform(-10, 10) * std::numbers::pi / 180;
  pose.slant = random.uniform(-0.12, 0.12);
  return pose;
}

void write_png(const fs::path& path, const data::Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&header, path.c_str(), 0, image.pixels.data(), 0, nullptr) == 0) {
    throw Error(fmt::format("{}: cannot be written ({})", path.string(), header.message));
  }
}

struct Task {
  DemoDomain domain;
  int64_t class_index;
  int64_t index;
};

std::vector<Task> all_tasks(const DemoDataOptions& options) {
  std::vector<Task> tasks;
  const auto num_classes = static_cast<int64_t>(demo_classes().size());
  for (const DemoDomain domain : {DemoDomain::kSketch, DemoDomain::kPhoto}) {
    const int64_t count =
        domain == DemoDomain::kSketch ? options.source_per_class : options.target_per_class;
    for (int64_t k = 0; k < num_classes; ++k) {
      for (int64_t i = 0; i < count; ++i) tasks.push_back({domain, k, i});
    }
  }
  return tasks;
}

fs::path class_folder(const fs::path& folder, DemoDomain domain, int64_t class_index) {
  return folder / kDomainNames[static_cast<size_t>(domain)] /
         demo_classes()[static_cast<size_t>(class_index)].name;
}

void draw_everything(const fs::path& folder, const DemoDataOptions& options) {
  const auto tasks = all_tasks(options);
  for (const auto& task : tasks) {
    if (task.index == 0) {
      create_writable_folder(class_folder(folder, task.domain, task.class_index));
    }
  }
  parallel_for(std::ssize(tasks), available_cores(), [&](int64_t i) {
    throw_if_interrupted("stopped while drawing; nothing was written");
    const auto& [domain, class_index, index] = tasks[static_cast<size_t>(i)];
    write_png(class_folder(folder, domain, class_index) / fmt::format("{:04}.png", index + 1),
              draw_demo_image(domain, class_index, index, options));
  });
  write_file(
      folder / kMarkerName,
      fmt::format("image-size = {}\nsource-per-class = {}\ntarget-per-class = {}\nseed = {}\n",
                  options.image_size, options.source_per_class, options.target_per_class,
                  options.seed));
}

/// Absent, empty, or demo data that an earlier call wrote: anything else could
/// be somebody's own pictures.
void check_replaceable(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder)) {
    throw InputError(fmt::format("{}: exists and is not a folder", folder.string()));
  }
  const std::set<fs::path> ours = {kMarkerName, kDomainNames[0], kDomainNames[1]};
  const bool marked = fs::exists(folder / kMarkerName);
  for (const auto& entry : entries_of(folder)) {
    if (!marked || !ours.contains(entry.filename())) {
      throw InputError(fmt::format("{}: the folder already contains {}, which is not demo data",
                                   folder.string(), entry.filename().string()));
    }
  }
}

}  // namespace

void DemoDataOptions::validate() const {
  check_range("image-size", image_size, 16, 256);
  check_range("source-per-class", source_per_class, 1, 9999);
  check_range("target-per-class", target_per_class, 1, 9999);
}

std::vector<std::string> demo_class_names() {
  std::vector<std::string> names;
  for (const auto& demo_class : demo_classes()) names.emplace_back(demo_class.name);
  return names;
}

data::Image draw_demo_image(DemoDomain domain, int64_t class_index, int64_t index,
                            const DemoDataOptions& options) {
  options.validate();
  check_range("class", class_index, 0, static_cast<int64_t>(demo_classes().size()) - 1);
  check_range("index", index, 0, std::numeric_limits<int64_t>::max());
  RandomStream random(options.seed, "demo", static_cast<uint64_t>(domain),
                      static_cast<uint64_t>(class_index), static_cast<uint64_t>(index));
  Shape shape;
  demo_classes()[static_cast<size_t>(class_index)].draw(shape, random);
  shape.place(random_pose(static_cast<double>(options.image_size), random));
  return domain == DemoDomain::kSketch ? render_sketch(shape, options.image_size, random)
                                       : render_photo(shape, options.image_size, random);
}

void write_demo_data(const fs::path& folder, const DemoDataOptions& options) {
  options.validate();
  // "demo/" has an empty file name; its sibling must not end up inside it.
  const fs::path target = fs::absolute(folder / ".").lexically_normal().parent_path();
  check_replaceable(target);
  create_writable_folder(target.parent_path());
  const ScratchFolder scratch(target.parent_path() / ("." + target.filename().string()));
  const auto fresh = scratch.path() / "new";
  draw_everything(fresh, options);
  try {
    if (fs::exists(target)) fs::rename(target, scratch.path() / "old");
    fs::rename(fresh, target);
  } catch (const fs::filesystem_error& error) {
    throw InputError(
        fmt::format("{}: cannot be written ({})", folder.string(), error.code().message()));
  }
}

}  // namespace proca::demo
