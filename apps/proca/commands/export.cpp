#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <torch/types.h>

#include "commands/commands.h"
#include "models/weights/safetensors.h"
#include "output_file.h"
#include "proca/engine/model_loading.h"
#include "proca/models/export.h"

namespace proca::app {
namespace {

enum class Format { kOnnx, kSafetensors, kTorchScript };

struct ExportCommand {
  engine::ModelOptions model;
  Format format = Format::kOnnx;
  std::string out;
};

void run_export(const ExportCommand& options) {
  prepare_output(options.out, {options.model.weights});
  const auto model = options.model.load();
  const auto& preprocessing = model.description.preprocessing;
  const models::ExportInfo info{.class_names = model.description.class_names,
                                .image_size = preprocessing.image_size,
                                .mean = preprocessing.mean,
                                .std = preprocessing.std};
  switch (options.format) {
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
            set.bind_choice<Format>("format", options->format, "of the file",
                                    {{"onnx", Format::kOnnx},
                                     {"torchscript", Format::kTorchScript},
                                     {"safetensors", Format::kSafetensors}});
            set.bind("out", options->out, "file to write", "FILE");
            set.require();
            return [options] { run_export(*options); };
          }};
}

}  // namespace proca::app
