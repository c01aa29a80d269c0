#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "image_input.h"
#include "proca/data/demo_data.h"
#include "proca/engine/source_trainer.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string out = "proca-demo";
  int64_t seed = 0;
  engine::ComputeOptions compute;
};

engine::SourceTrainingOptions training_options(const Options& options, const fs::path& sketch) {
  engine::SourceTrainingOptions training;
  training.source = sketch.string();
  training.backbone = "resnet-small";
  training.image_size = data::DemoDataOptions{}.image_size;
  training.seed = options.seed;
  training.compute = options.compute;
  return training;
}

double accuracy_on(const fs::path& images, const engine::LoadedModel& model, const Options& options,
                   torch::Device device) {
  const auto& preprocessing = model.description.preprocessing;
  const auto threads = options.compute.resolved_threads();
  const data::ImageStore store(
      data::open_images(images, {.labels = data::Labels::kRequired,
                                 .known_classes = model.description.class_names}),
      {.resize = preprocessing.resolved_resize(), .threads = threads});
  return engine::evaluate(model.network, store, preprocessing,
                          {.device = device, .threads = threads})
      .accuracy();
}

void run(const Options& options) {
  const fs::path out = options.out;
  const auto images = out / "images";
  std::error_code ignored;  // A place that cannot be looked at cannot be written to either.
  if (!fs::exists(images, ignored)) {
    data::write_demo_data(images, {.seed = static_cast<uint64_t>(options.seed)});
  }
  engine::train_source(training_options(options, images / "sketch"), out / "source");

  auto model = engine::load_model(engine::StateDirectory(out / "source"));
  const auto device = engine::prepare_compute(options.compute);
  model.network->to(device);
  std::cout << fmt::format("images       {}\nsource model {}\n\naccuracy of the source model\n",
                           images.string(), (out / "source").string());
  for (const auto* domain : {"sketch", "photo"}) {
    std::cout << fmt::format(
        "  {:<8} {:6.2f} %{}\n", domain, accuracy_on(images / domain, model, options, device) * 100,
        std::string_view(domain) == "sketch" ? "  (what it was trained on)" : "");
  }
}

}  // namespace

Command demo_command() {
  return {"demo", "draw a small data set, train on sketches, look at photos", [](OptionSet& set) {
            const auto options = std::make_shared<Options>();
            set.bind("out", options->out, "folder for everything it makes", "DIR");
            set.bind("seed", options->seed, "of every random choice", 0);
            options->compute.bind(set);
            return [options] { run(*options); };
          }};
}

}  // namespace proca::app
