#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <torch/types.h>

#include "commands/commands.h"
#include "commands/image_input.h"
#include "core/counted.h"
#include "core/files/csv.h"
#include "core/json_text.h"
#include "core/stopwatch.h"
#include "output_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"

namespace proca::app {
namespace {

enum class Format { kCsv, kJson };

struct PredictCommand {
  ModelInputOptions input;
  std::vector<std::string> paths;
  int64_t top = 1;
  Format format = Format::kCsv;
  std::string out;
};

// The k most probable classes of one image.
struct Prediction {
  std::string path;
  std::vector<int64_t> labels;
  std::vector<double> confidences;
  std::optional<bool> adapted;  // whether the first class has been; unknown without a state
};

std::string csv_text(const std::vector<Prediction>& predictions, const engine::LoadedModel& model,
                     int64_t top) {
  std::string text = "path,label,class,confidence";
  if (model.adapted_classes) text += ",adapted";
  for (int64_t k = 2; k <= top; ++k) text += fmt::format(",label{0},class{0},confidence{0}", k);
  text += '\n';
  for (const auto& prediction : predictions) {
    text += csv_field(prediction.path);
    for (size_t k = 0; k < prediction.labels.size(); ++k) {
      const auto label = static_cast<size_t>(prediction.labels[k]);
      text += fmt::format(",{},{},{:.6f}", label, csv_field(model.description.class_names[label]),
                          prediction.confidences[k]);
      if (k == 0 && prediction.adapted) text += *prediction.adapted ? ",yes" : ",no";
    }
    text += '\n';
  }
  return text;
}

nlohmann::ordered_json to_json(const Prediction& prediction,
                               const std::vector<std::string>& names) {
  const auto entry = [&](size_t k) {
    const int64_t label = prediction.labels[k];
    return nlohmann::ordered_json{{"label", label},
                                  {"class", names[static_cast<size_t>(label)]},
                                  {"confidence", prediction.confidences[k]}};
  };
  nlohmann::ordered_json json{{"path", prediction.path}};
  json.update(entry(0));
  if (prediction.adapted) json["adapted"] = *prediction.adapted;
  json["top"] = nlohmann::json::array();
  for (size_t k = 0; k < prediction.labels.size(); ++k) json["top"].push_back(entry(k));
  return json;
}

std::optional<bool> is_adapted(const engine::LoadedModel& model, int64_t label) {
  if (!model.adapted_classes) return std::nullopt;
  return std::binary_search(model.adapted_classes->begin(), model.adapted_classes->end(), label);
}

std::vector<Prediction> predict(const PredictCommand& options, const ModelInput& input) {
  const auto& [model, preprocessing] = input;
  const std::shared_ptr source =
      data::open_images(options.paths, {.root = options.input.load.root});
  const auto store = options.input.make_store(source, preprocessing);
  const int64_t top = std::min(options.top, model.network->num_classes());
  std::vector<Prediction> predictions;
  const Stopwatch watch;
  engine::predict(model.network, store, preprocessing, options.input.inference(),
                  [&](const engine::BatchPrediction& batch) {
                    const auto best = batch.probabilities.topk(top, /*dim=*/1);
                    const auto confidences = std::get<0>(best).contiguous();
                    const auto labels = std::get<1>(best).contiguous();
                    for (size_t i = 0; i < batch.indexes.size(); ++i) {
                      const auto* first_label = labels.data_ptr<int64_t>() + i * top;
                      const auto* first = confidences.data_ptr<float>() + i * top;
                      predictions.push_back({store.sample(batch.indexes[i]).path,
                                             {first_label, first_label + top},
                                             {first, first + top},
                                             is_adapted(input.model, *first_label)});
                    }
                  });
  const double seconds = watch.seconds();
  log_info(fmt::format("{} in {:.1f} s, {:.1f} images/s", counted(std::ssize(predictions), "image"),
                       seconds, static_cast<double>(predictions.size()) / seconds));
  return predictions;
}

void run_predict(const PredictCommand& options) {
  if (!options.out.empty()) {
    auto inputs = options.paths;
    inputs.push_back(options.input.model.weights);
    prepare_output(options.out, inputs);
  }
  const auto input = options.input.load_model();
  // Opened first: an unwritable place is found before the work, not after it.
  std::optional<AtomicFile> file;
  if (!options.out.empty()) file.emplace(options.out);

  const auto predictions = predict(options, input);
  std::string text;
  if (options.format == Format::kCsv) {
    text = csv_text(predictions, input.model,
                    std::min(options.top, input.model.network->num_classes()));
  } else {
    auto json = nlohmann::ordered_json::array();
    for (const auto& prediction : predictions) {
      json.push_back(to_json(prediction, input.class_names()));
    }
    text = json_text(json);
  }
  if (!file) {
    std::cout << text;
    return;
  }
  file->write(text);
  file->commit();
}

}  // namespace

Command predict_command() {
  return {"predict", "classes of images, as CSV or JSON", [](OptionSet& set) {
            const auto options = std::make_shared<PredictCommand>();
            set.bind_positional("path", options->paths,
                                "folders, list files, packed files or images");
            set.require();
            options->input.bind(set);
            set.bind("top", options->top, "how many classes to name per image", 1, 100000);
            set.bind_choice<Format>("format", options->format, "of the result",
                                    {{"csv", Format::kCsv}, {"json", Format::kJson}});
            set.bind("out", options->out, "file to write; standard output if not given", "FILE");
            return [options] { run_predict(*options); };
          }};
}

}  // namespace proca::app
