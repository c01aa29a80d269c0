#include "engine/start_weights.h"

#include <fmt/format.h>

#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"

namespace proca::engine {
namespace {

using Start = methods::TrainingRecipe::Start;

}  // namespace

std::string start_weights_of(const AdaptOptions& options) {
  if (options.start == Start::kSourceModel) return {};
  if (options.start == Start::kWeights && options.start_weights.empty()) {
    throw InvalidOption("--start: weights needs the file, --start-weights FILE");
  }
  return options.start_weights;
}

void start_network(models::ClassifierNetwork& network, const AdaptOptions& options,
                   const methods::MethodSpec& method, const state::ModelDescription& description,
                   const std::filesystem::path& folder) {
  const auto file = start_weights_of(options);
  if (file.empty()) {
    if (method.recipe.start == Start::kWeights && !options.start) {
      log_info(fmt::format(
          "{} starts from the source model; --start-weights FILE would be as its authors do it",
          method.name));
    }
    return;
  }
  const auto fresh = build_network(description, static_cast<uint64_t>(options.seed), folder);
  models::load_weights(network, {fresh->state(), {}, "fresh network"},
                       models::HeadPolicy::kMustMatch);
  const auto report = models::load_weights(network, models::read_weight_file(file));
  if (!report.notice.empty()) log_info(report.notice);
}

}  // namespace proca::engine
