#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <torch/types.h>

#include "commands/commands.h"
#include "core/counted.h"
#include "core/files/read_json.h"
#include "core/json_text.h"
#include "engine/source/kept_source.h"
#include "engine/source/source_location.h"
#include "proca/adaptation/prototype_memory.h"
#include "proca/core/error.h"
#include "proca/engine/model_loading.h"
#include "proca/state/state_directory.h"
#include "state/history/state_history.h"
#include "state/state_files.h"

namespace proca::app {
namespace {

struct InspectCommand {
  std::string state;
  std::vector<std::string> folders;  // the same without a flag
  bool json = false;

  std::string folder() const {
    if (folders.size() > 1 || (!folders.empty() && !state.empty())) {
      throw InvalidOption("proca inspect: one state at a time");
    }
    if (folders.empty() && state.empty()) {
      throw InvalidOption("proca inspect: --state is missing (see proca inspect --help)");
    }
    return state.empty() ? folders.front() : state;
  }
};

// The prototypes, if the state has any.
adaptation::PrototypeMemory read_memory(const state::StateDirectory& state) {
  adaptation::PrototypeMemory memory(std::numeric_limits<int64_t>::max());
  if (state.has(state::kMemoryFile)) {
    memory.load(state.read_tensors(state::kMemoryFile).tensors);
  }
  return memory;
}

nlohmann::ordered_json memory_json(const adaptation::PrototypeMemory& memory,
                                   const std::vector<std::string>& names) {
  nlohmann::ordered_json json{{"prototypes", memory.num_classes() > 0 ? memory.size() : 0},
                              {"bytes", memory.bytes()},
                              {"classes", nlohmann::json::array()}};
  for (const auto& entry : memory.classes()) {
    json["classes"].push_back({{"label", entry.label},
                               {"class", names[static_cast<size_t>(entry.label)]},
                               {"prototypes", entry.origins.size()},
                               {"score", entry.score},
                               {"captured_at_step", entry.step + 1},
                               {"images", entry.origins}});
  }
  return json;
}

nlohmann::ordered_json history_json(const std::vector<state::StateHistory::Kept>& kept) {
  auto json = nlohmann::ordered_json::array();
  for (const auto& entry : kept) json.push_back({{"step", entry.step}, {"bytes", entry.bytes}});
  return json;
}

// What can be taken back, and what it costs.
std::string describe_history(const std::vector<state::StateHistory::Kept>& kept) {
  int64_t bytes = 0;
  std::string steps;
  for (const auto& entry : kept) {
    steps += fmt::format("{}{}", steps.empty() ? "" : ", ", entry.step);
    bytes += entry.bytes;
  }
  return fmt::format("step {}, {:.1f} MB (proca undo, --step)", steps,
                     static_cast<double>(bytes) / 1e6);
}

// The source images that the state keeps; null if there are none.
nlohmann::ordered_json kept_json(const state::StateDirectory& state) {
  if (!state.has(state::kKeptSourceFile)) return nullptr;
  const auto kept = engine::read_kept_source(state);
  return {{"images", kept.size()},
          {"per_class", kept.per_class()},
          {"bytes", kept.bytes()},
          {"of", kept.num_source_images()}};
}

// What is known of a class: whether it was adapted, and its prototypes.
std::string describe_class(int64_t label, const state::Manifest& manifest,
                           const adaptation::PrototypeMemory& memory) {
  const auto& adapted = manifest.adapted_classes;
  std::string text;
  if (std::binary_search(adapted.begin(), adapted.end(), label)) text = "adapted";
  if (memory.contains(label)) {
    const auto& entry = memory.at(label);
    text +=
        fmt::format(", {} of step {}, score {:.3f}",
                    counted(std::ssize(entry.origins), "prototype"), entry.step + 1, entry.score);
  }
  return text;
}

// The verdict on the last step; null if it has none.
nlohmann::ordered_json health_of_last_step(const state::StateDirectory& state) {
  const auto file = state::step_file_name(state.manifest().step, state::kHealthFile);
  if (!state.has(file)) return nullptr;
  const auto origin = (state.folder() / file).string();
  return reading(origin, [&] { return parse_json(state.read_text(file), origin); });
}

std::string describe_adapted_classes(const state::StateDirectory& state) {
  const auto& manifest = state.manifest();
  // A method that labels images has adapted to none if its steps were refused.
  const bool labels = state.has(state::step_file_name(manifest.step, state::kPseudoLabelsFile));
  if (manifest.step > 0 && manifest.adapted_classes.empty() && !labels) {
    return fmt::format("adapted to those in the images ({} labels none)", manifest.method);
  }
  return fmt::format("{} adapted", manifest.adapted_classes.size());
}

// What a state holds, read once for both ways of printing it.
struct Inspected {
  explicit Inspected(const std::string& folder)
      : state(folder),
        memory(read_memory(state)),
        kept_steps(state::StateHistory(state.folder()).kept(state)),
        source(engine::find_source(state.manifest(), state.folder()).images) {
    for (const auto& [name, tensor] : state.read_tensors(state::kModelFile).tensors) {
      if (tensor.is_floating_point() && name.find("running_") == std::string::npos) {
        parameters += tensor.numel();
      }
    }
  }
  bool is_ready() const { return state.manifest().phase == state::Phase::kReady; }

  state::StateDirectory state;
  adaptation::PrototypeMemory memory;
  std::vector<state::StateHistory::Kept> kept_steps;
  std::filesystem::path source;
  int64_t parameters = 0;
};

void print_json(const Inspected& inspected, const std::string& folder) {
  const auto& [state, memory, kept_steps, source, parameters] = inspected;
  const auto& manifest = state.manifest();
  const auto& model = manifest.model;
  const nlohmann::ordered_json json{{"state", folder},
                                    {"phase", inspected.is_ready() ? "ready" : "pretraining"},
                                    {"epochs", manifest.epoch},
                                    {"steps", manifest.step},
                                    {"method", manifest.method},
                                    {"step_under_way", manifest.adapting.has_value()},
                                    {"health", health_of_last_step(state)},
                                    {"adapted_classes", manifest.adapted_classes},
                                    {"backbone", model.backbone},
                                    {"parameters", parameters},
                                    {"image_size", model.preprocessing.image_size},
                                    {"class_names", model.class_names},
                                    {"source", source.string()},
                                    {"kept_source", kept_json(state)},
                                    {"memory", memory_json(memory, model.class_names)},
                                    {"kept_steps", history_json(kept_steps)}};
  std::cout << json_text(json);
}

void print_text(const Inspected& inspected, const std::string& folder) {
  const auto& [state, memory, kept_steps, source, parameters] = inspected;
  const auto& manifest = state.manifest();
  const auto& model = manifest.model;
  const bool ready = inspected.is_ready();
  std::cout << fmt::format("state       {}\n", folder);
  std::cout << fmt::format("source      {} ({}{}{})\n", source.string(),
                           ready ? "trained, " : "in training, ", counted(manifest.epoch, "epoch"),
                           ready ? "" : " done");
  if (state.has(state::kKeptSourceFile)) {
    const auto kept = engine::read_kept_source(state);
    std::cout << fmt::format("kept source {} of {}, {} per class, {:.1f} MB\n", kept.size(),
                             counted(kept.num_source_images(), "image"), kept.per_class(),
                             static_cast<double>(kept.bytes()) / 1e6);
  }
  std::cout << fmt::format("steps       {}{}{}\n", manifest.step,
                           manifest.method.empty() ? "" : " with " + manifest.method,
                           manifest.adapting ? ", another is under way" : "");
  if (const auto health = health_of_last_step(state); !health.is_null()) {
    std::cout << fmt::format("last step   {}: {}\n", health.value("verdict", ""),
                             health.value("reason", ""));
  }
  std::cout << fmt::format("model       {}, {:.2f} million parameters, {} pixels\n", model.backbone,
                           static_cast<double>(parameters) / 1e6, model.preprocessing.image_size);
  if (memory.num_classes() > 0) {
    std::cout << fmt::format(
        "memory      {} of {}, {:.1f} MB\n", counted(memory.size(), "prototype"),
        counted(memory.num_classes(), "class"), static_cast<double>(memory.bytes()) / 1e6);
  }
  if (!kept_steps.empty()) {
    std::cout << fmt::format("kept        {}\n", describe_history(kept_steps));
  }
  std::cout << fmt::format("classes     {}, {}\n", model.class_names.size(),
                           describe_adapted_classes(state));
  for (size_t label = 0; label < model.class_names.size(); ++label) {
    const auto known = describe_class(static_cast<int64_t>(label), manifest, memory);
    std::cout << fmt::format("{:>6}  {}{}{}\n", label, model.class_names[label],
                             known.empty() ? "" : "  ", known);
  }
}

void run_inspect(const InspectCommand& options) {
  const auto folder = options.folder();
  const Inspected inspected(folder);
  options.json ? print_json(inspected, folder) : print_text(inspected, folder);
}

}  // namespace

Command inspect_command() {
  return {"inspect", "what a state directory holds", [](OptionSet& set) {
            const auto options = std::make_shared<InspectCommand>();
            set.bind_positional("folder", options->folders, "state directory", "DIR");
            set.bind("state", options->state, "the same with a flag", "DIR");
            set.bind("json", options->json, "print JSON");
            return [options] { run_inspect(*options); };
          }};
}

}  // namespace proca::app
