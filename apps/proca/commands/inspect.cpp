#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "proca/engine/model_loading.h"
#include "proca/engine/state_directory.h"

namespace proca::app {
namespace {

struct Options {
  std::string state;
  bool json = false;
};

void run(const Options& options) {
  const engine::StateDirectory state(options.state);
  const auto& manifest = state.manifest();
  const auto& model = manifest.model;
  int64_t parameters = 0;
  for (const auto& [name, tensor] : state.read_tensors("model.safetensors").tensors) {
    if (tensor.is_floating_point() && name.find("running_") == std::string::npos) {
      parameters += tensor.numel();
    }
  }
  const bool ready = manifest.phase == engine::Phase::kReady;
  if (options.json) {
    nlohmann::ordered_json json{{"state", options.state},
                                {"phase", ready ? "ready" : "pretraining"},
                                {"epochs", manifest.epoch},
                                {"steps", manifest.step},
                                {"backbone", model.backbone},
                                {"parameters", parameters},
                                {"image_size", model.preprocessing.image_size},
                                {"class_names", model.class_names},
                                {"source", manifest.source}};
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    return;
  }
  std::cout << fmt::format("state       {}\n", options.state);
  std::cout << fmt::format("source      {} ({})\n", manifest.source,
                           ready ? fmt::format("trained, {} epochs", manifest.epoch)
                                 : fmt::format("in training, {} epochs done", manifest.epoch));
  std::cout << fmt::format("steps       {}\n", manifest.step);
  std::cout << fmt::format("model       {}, {:.2f} million parameters, {} pixels\n", model.backbone,
                           static_cast<double>(parameters) / 1e6, model.preprocessing.image_size);
  std::cout << fmt::format("classes     {}\n", model.class_names.size());
  for (size_t label = 0; label < model.class_names.size(); ++label) {
    std::cout << fmt::format("{:>6}  {}\n", label, model.class_names[label]);
  }
}

}  // namespace

Command inspect_command() {
  return {"inspect", "what a state directory holds", [](OptionSet& set) {
            const auto options = std::make_shared<Options>();
            set.bind("state", options->state, "state directory", "DIR");
            set.require();
            set.bind("json", options->json, "print JSON");
            return [options] { run(*options); };
          }};
}

}  // namespace proca::app
