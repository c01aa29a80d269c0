// One adaptation step on made-up images, with a memory that already holds the
// prototypes of so many classes: what of a step's time and memory grows with the past?

#include <sys/resource.h>

#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "proca/core/error.h"
#include "proca/core/random.h"
#include "proca/core/stopwatch.h"
#include "proca/data/packed_file.h"
#include "proca/engine/adapter.h"
#include "proca/engine/model_loading.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string out;
  std::string backbone = "resnet-small";
  int64_t image_size = 32;
  int64_t classes = 1100;
  int64_t memory_classes = 100;
  int64_t images = 320;
  int64_t epochs = 5;
  bool json = false;
  engine::ComputeOptions compute;
};

// Noise, with labels 0, 1, ... in turn if `num_classes` is not 0.
class NoiseImages final : public data::ImageSource {
 public:
  NoiseImages(int64_t count, int64_t size, int64_t num_classes, std::string purpose)
      : size_(size), purpose_(std::move(purpose)) {
    listing_.origin = purpose_;
    for (int64_t i = 0; i < num_classes; ++i) {
      listing_.class_names.push_back(fmt::format("class {:05}", i));
    }
    for (int64_t i = 0; i < count; ++i) {
      listing_.samples.push_back({.path = fmt::format("{} {}", purpose_, i),
                                  .label = num_classes > 0 ? i % num_classes : data::kNoLabel});
    }
  }
  data::Image read(int64_t index) const override {
    auto image = data::Image::black(size_, size_);
    RandomStream random(0, purpose_, static_cast<uint64_t>(index));
    for (auto& value : image.pixels) value = static_cast<uint8_t>(random());
    return image;
  }
  std::vector<uint8_t> read_encoded(int64_t) const override {
    throw InputError(purpose_ + ": made-up images are not files");
  }

 private:
  int64_t size_;
  std::string purpose_;
};

void write_state(const Options& options, const fs::path& state, const fs::path& source) {
  engine::Manifest manifest;
  manifest.phase = engine::Phase::kReady;
  manifest.source = fs::absolute(source).string();
  manifest.model.backbone = options.backbone;
  manifest.model.preprocessing.image_size = options.image_size;
  for (int64_t i = 0; i < options.classes; ++i) {
    manifest.model.class_names.push_back(fmt::format("class {:05}", i));
  }
  manifest.step = 1;
  manifest.method = "proca";
  const auto network = engine::build_network(manifest.model, 0);
  adaptation::PrototypeMemory memory;
  const int64_t size = options.image_size;
  for (int64_t i = 0; i < options.memory_classes; ++i) {
    memory.put({.label = options.classes - 1 - i,
                .score = 1.0,
                .step = 0,
                .pixels = torch::full({10, size, size, 3}, i % 256, torch::kUInt8),
                .soft_labels =
                    torch::full({10, options.classes}, 1.0 / static_cast<double>(options.classes)),
                .origins = std::vector<std::string>(10, "made up")});
  }
  engine::StateWriter writer(state);
  writer.put_text("config.toml", "");
  writer.put_tensors("source.safetensors", network->state(), {});
  writer.put_tensors("model.safetensors", network->state(), {});
  if (options.memory_classes > 0) writer.put_tensors("memory.safetensors", memory.save(), {});
  writer.commit(manifest);
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1e3;
}

void run(const Options& options) {
  const fs::path out = options.out;
  const auto source = out / "source.pack";
  std::error_code ignored;
  fs::create_directories(out, ignored);
  if (engine::StateDirectory::exists(out / "state")) {
    throw InputError(
        fmt::format("{}: holds an earlier measurement; use a new folder", options.out));
  }
  data::write_packed_file(
      source, NoiseImages(2 * options.classes, options.image_size, options.classes, "source"),
      {.image_size = options.image_size});
  write_state(options, out / "state", source);

  engine::AdaptOptions adapt;
  adapt.epochs = options.epochs;
  adapt.compute = options.compute;
  Stopwatch watch;
  engine::Adapter adapter(adapt, out / "state");
  const double load_s = watch.seconds();
  const auto target =
      std::make_shared<NoiseImages>(options.images, options.image_size, 0, "target");
  watch.restart();
  adapter.adapt(target);
  const double first_s = watch.seconds();
  // Again with the source's centres known: what every further step costs.
  watch.restart();
  adapter.adapt(std::make_shared<NoiseImages>(options.images, options.image_size, 0, "next"));
  const nlohmann::ordered_json result{{"classes_in_memory", options.memory_classes},
                                      {"load_s", load_s},
                                      {"first_step_s", first_s},
                                      {"further_step_s", watch.seconds()},
                                      {"peak_memory_mb", peak_memory_mb()}};
  std::cout << (options.json ? result.dump() : result.dump(1)) << '\n';
}

}  // namespace

Command bench_step_command() {
  return {"bench step", "an adaptation step with so many classes in memory", [](OptionSet& set) {
            const auto options = std::make_shared<Options>();
            set.bind("out", options->out, "new folder for the made-up state", "DIR");
            set.require();
            set.bind("backbone", options->backbone, "network to adapt", "NAME");
            set.bind("image-size", options->image_size, "pixels, square", 8, 4096);
            set.bind("classes", options->classes, "of the source", 2, 100'000);
            set.bind("memory-classes", options->memory_classes,
                     "classes whose prototypes are in memory already", 0, 100'000);
            set.bind("images", options->images, "of the step", 1, 1'000'000);
            set.bind("epochs", options->epochs, "of the step", 1, 1'000'000);
            set.bind("json", options->json, "print JSON on one line");
            options->compute.bind(set);
            return [options] { run(*options); };
          }};
}

}  // namespace proca::app
