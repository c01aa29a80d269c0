#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <torch/types.h>

#include "commands/commands.h"
#include "commands/image_input.h"
#include "core/counted.h"
#include "core/json_text.h"
#include "output_file.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "protocol/classification_report.h"

namespace proca::app {
namespace {

struct EvaluateCommand {
  ModelInputOptions input;
  std::string data;
  std::string confusion;
  bool json = false;
};

struct EvaluationResult {
  protocol::ClassificationReport figures;
  std::vector<data::UnknownClass> left_out;
};

int64_t num_left_out(const EvaluationResult& result) {
  int64_t count = 0;
  for (const auto& unknown : result.left_out) count += unknown.num_images;
  return count;
}

void print_table(const EvaluationResult& result, const std::vector<std::string>& names) {
  const auto& figures = result.figures;
  const auto report = figures.accuracy();
  const auto scores = figures.class_scores();
  std::cout << "accuracy      F1 images class\n";
  for (const auto& entry : report.classes) {
    const auto label = static_cast<size_t>(entry.label);
    std::cout << fmt::format("{:6.2f} % {:>7.2f} {:>6} {}\n", entry.accuracy() * 100,
                             scores[label].f1 * 100, entry.num_images, names[label]);
  }
  std::cout << fmt::format("mean over {}: {:.2f} %, macro F1 {:.2f} %\n",
                           counted(std::ssize(report.classes), "class"),
                           report.mean_class_accuracy() * 100, figures.macro_f1() * 100);
  if (std::ssize(names) > 5) std::cout << fmt::format("top 5: {:.2f} %\n", figures.top(5) * 100);
  std::cout << fmt::format("calibration error: {:.2f} %\n", figures.calibration_error() * 100);
  if (!result.left_out.empty()) {
    std::cout << fmt::format("left out: {} of {} that the model does not know\n",
                             counted(num_left_out(result), "image"),
                             counted(std::ssize(result.left_out), "class"));
  }
  std::cout << fmt::format("accuracy: {:.2f} % ({} of {})\n", report.accuracy() * 100,
                           report.num_correct, counted(report.num_images, "image"));
}

void print_json(const EvaluationResult& result, const std::vector<std::string>& names) {
  const auto& figures = result.figures;
  const auto report = figures.accuracy();
  const auto scores = figures.class_scores();
  nlohmann::ordered_json json;
  json["accuracy_percent"] = report.accuracy() * 100;
  json["mean_class_accuracy_percent"] = report.mean_class_accuracy() * 100;
  json["top5_accuracy_percent"] = figures.top(5) * 100;
  json["macro_f1_percent"] = figures.macro_f1() * 100;
  json["calibration_error_percent"] = figures.calibration_error() * 100;
  json["images"] = report.num_images;
  json["correct"] = report.num_correct;
  for (const auto& entry : report.classes) {
    json["classes"].push_back({{"label", entry.label},
                               {"class", names[static_cast<size_t>(entry.label)]},
                               {"images", entry.num_images},
                               {"correct", entry.num_correct},
                               {"accuracy_percent", entry.accuracy() * 100},
                               {"f1_percent", scores[static_cast<size_t>(entry.label)].f1 * 100}});
  }
  json["unknown_classes"] = nlohmann::json::array();
  for (const auto& unknown : result.left_out) {
    json["unknown_classes"].push_back({{"class", unknown.name}, {"images", unknown.num_images}});
  }
  std::cout << json_text(json);
}

void run_evaluate(const EvaluateCommand& options) {
  if (!options.confusion.empty()) {
    prepare_output(options.confusion, {options.data, options.input.model.weights});
  }
  const auto input = options.input.load_model();
  const auto& names = input.class_names();
  const std::shared_ptr source = data::open_images(
      std::filesystem::path(options.data), {.labels = data::Labels::kRequired,
                                            .root = options.input.load.root,
                                            .known_classes = names,
                                            .unknown_classes = data::UnknownClasses::kLeaveOut});
  // Opened first: an unwritable place is found before the work, not after it.
  std::optional<AtomicFile> confusion;
  if (!options.confusion.empty()) confusion.emplace(options.confusion);
  EvaluationResult result{protocol::ClassificationReport(input.model.network->num_classes()),
                          source->listing().unknown_classes};
  for (const auto& unknown : result.left_out) {
    log_warning(fmt::format(
        "{}: the model has no class \"{}\"; its {} left out", options.data, unknown.name,
        unknown.num_images == 1 ? "image is" : fmt::format("{} images are", unknown.num_images)));
  }
  const auto store = options.input.make_store(source, input.preprocessing);
  auto inference = options.input.inference();
  inference.title = "evaluating";
  engine::predict(input.model.network, store, input.preprocessing, inference,
                  [&](const engine::BatchPrediction& batch) {
                    const auto rows = batch.probabilities.contiguous();
                    const auto size = static_cast<size_t>(rows.size(1));
                    for (size_t i = 0; i < batch.indexes.size(); ++i) {
                      result.figures.add(store.sample(batch.indexes[i]).label,
                                         {rows.data_ptr<float>() + i * size, size});
                    }
                  });
  options.json ? print_json(result, names) : print_table(result, names);
  if (!confusion) return;
  confusion->write(protocol::confusion_csv(result.figures.accuracy(), names));
  confusion->commit();
}

}  // namespace

Command evaluate_command() {
  return {"evaluate", "accuracy of a model on labelled images", [](OptionSet& set) {
            const auto options = std::make_shared<EvaluateCommand>();
            set.bind("data", options->data, "labelled images", "PATH");
            set.require();
            options->input.bind(set);
            set.bind("confusion", options->confusion,
                     "CSV file to write: images by true and by predicted class", "FILE");
            set.bind("json", options->json, "print JSON");
            return [options] { run_evaluate(*options); };
          }};
}

}  // namespace proca::app
