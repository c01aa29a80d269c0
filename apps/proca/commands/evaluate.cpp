#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/image_input.h"
#include "core/json_text.h"

namespace proca::app {
namespace {

struct EvaluateCommand {
  ModelInputOptions input;
  std::string data;
  bool json = false;
};

void print_table(const protocol::AccuracyReport& report, const std::vector<std::string>& names) {
  for (const auto& entry : report.classes) {
    std::cout << fmt::format("{:6.2f} % {:>6} {}\n", entry.accuracy() * 100, entry.num_images,
                             names[static_cast<size_t>(entry.label)]);
  }
  std::cout << fmt::format("mean over {} classes: {:.2f} %\n", report.classes.size(),
                           report.mean_class_accuracy() * 100);
  std::cout << fmt::format("accuracy: {:.2f} % ({} of {} images)\n", report.accuracy() * 100,
                           report.num_correct, report.num_images);
}

void print_json(const protocol::AccuracyReport& report, const std::vector<std::string>& names) {
  nlohmann::ordered_json json;
  json["accuracy_percent"] = report.accuracy() * 100;
  json["mean_class_accuracy_percent"] = report.mean_class_accuracy() * 100;
  json["images"] = report.num_images;
  json["correct"] = report.num_correct;
  for (const auto& entry : report.classes) {
    json["classes"].push_back({{"label", entry.label},
                               {"class", names[static_cast<size_t>(entry.label)]},
                               {"images", entry.num_images},
                               {"correct", entry.num_correct},
                               {"accuracy_percent", entry.accuracy() * 100}});
  }
  std::cout << json_text(json);
}

void run_evaluate(const EvaluateCommand& options) {
  const auto input = options.input.load_model();
  const auto& names = input.class_names();
  const std::shared_ptr source = data::open_images(
      std::filesystem::path(options.data),
      {.labels = data::Labels::kRequired, .root = options.input.load.root, .known_classes = names});
  const auto store = options.input.make_store(source, input.preprocessing);
  const auto report =
      engine::evaluate(input.model.network, store, input.preprocessing, options.input.inference());
  options.json ? print_json(report, names) : print_table(report, names);
}

}  // namespace

Command evaluate_command() {
  return {"evaluate", "accuracy of a model on labelled images", [](OptionSet& set) {
            const auto options = std::make_shared<EvaluateCommand>();
            set.bind("data", options->data, "labelled images", "PATH");
            set.require();
            options->input.bind(set);
            set.bind("json", options->json, "print JSON");
            return [options] { run_evaluate(*options); };
          }};
}

}  // namespace proca::app
