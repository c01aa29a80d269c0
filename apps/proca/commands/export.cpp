#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <torch/types.h>

#include "commands/commands.h"
#include "models/weights/safetensors.h"
#include "output_file.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/engine/model_loading.h"
#include "proca/models/export.h"

namespace proca::app {
namespace {

enum class Format { kOnnx, kSafetensors, kTorchScript };

struct ExportCommand {
  engine::ModelOptions model;
  std::optional<Format> format;  // empty: as the name of the file says
  std::string out;
};

// What a name says by its extension; nothing if it says nothing.
std::optional<Format> format_of(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".onnx") return Format::kOnnx;
  if (extension == ".pt" || extension == ".ts" || extension == ".torchscript") {
    return Format::kTorchScript;
  }
  if (extension == ".safetensors") return Format::kSafetensors;
  return std::nullopt;
}

Format resolved_format(const ExportCommand& options) {
  const auto by_name = format_of(options.out);
  if (!options.format && !by_name) {
    throw InvalidOption(
        fmt::format("--out: \"{}\" says no format; end it in .onnx, .pt "
                    "(TorchScript) or .safetensors, or give --format",
                    options.out));
  }
  if (options.format && by_name && options.format != by_name) {
    throw InvalidOption(
        fmt::format("--out: \"{}\" is the name of another format than --format says", options.out));
  }
  return options.format.value_or(by_name.value_or(Format::kOnnx));
}

std::string word_of(const data::Preprocessing& preprocessing) {
  return preprocessing.resize.orientation == data::Orientation::kUpright ? "upright" : "stored";
}

void run_export(const ExportCommand& options) {
  prepare_output(options.out, {options.model.weights});
  const auto format = resolved_format(options);
  const auto model = options.model.load();
  const auto& preprocessing = model.description.preprocessing;
  const models::ExportInfo info{.class_names = model.description.class_names,
                                .image_size = preprocessing.image_size,
                                .mean = preprocessing.mean,
                                .std = preprocessing.std,
                                .extra = {{"orientation", word_of(preprocessing)}}};
  switch (format) {
    case Format::kOnnx:
      models::export_onnx(options.out, model.network, info);
      break;
    case Format::kTorchScript:
      models::export_torchscript(options.out, model.network, info);
      break;
    case Format::kSafetensors:
      info.validate(model.network);
      models::write_safetensors(options.out, model.network->state(),
                                models::export_metadata(model.network, info));
      break;
  }
  std::cout << fmt::format("{}: {:.1f} MB\n", options.out,
                           static_cast<double>(std::filesystem::file_size(options.out)) / 1e6);
}

}  // namespace

Command export_command() {
  return {"export", "write the model as ONNX, TorchScript or safetensors", [](OptionSet& set) {
            const auto options = std::make_shared<ExportCommand>();
            options->model.bind(set);
            set.bind_choice<std::optional<Format>>("format", options->format,
                                                   "of the file; auto = as its name ends",
                                                   {{"auto", std::nullopt},
                                                    {"onnx", Format::kOnnx},
                                                    {"torchscript", Format::kTorchScript},
                                                    {"safetensors", Format::kSafetensors}});
            set.bind("out", options->out, "file to write", "FILE");
            set.require();
            return [options] { run_export(*options); };
          }};
}

}  // namespace proca::app
