#include "engine/step_identity.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "config/toml.h"
#include "engine/start_weights.h"
#include "proca/core/file.h"
#include "state/state_files.h"

namespace proca::engine {
namespace {

constexpr const char* kPrecision = "precision";

std::string_view word_of(data::Crop crop) {
  switch (crop) {
    case data::Crop::kCentre:
      return "centre";
    case data::Crop::kRandom:
      return "random";
    case data::Crop::kRandomResized:
      return "random-resized";
  }
  throw std::logic_error("a crop without a word");
}

std::string_view word_of(methods::OnDoubt on_doubt) {
  switch (on_doubt) {
    case methods::OnDoubt::kAdapt:
      return "adapt";
    case methods::OnDoubt::kSkipRefused:
      return "skip-refused";
    case methods::OnDoubt::kSkip:
      return "skip";
    case methods::OnDoubt::kStop:
      return "stop";
  }
  throw std::logic_error("an answer to doubt without a word");
}

// A CPU computes in float32 whatever is asked for.
std::string_view effective_precision(const StepSettings& settings) {
  return compute::word_of(settings.device.is_cuda() ? settings.options.compute.precision
                                                    : compute::Precision::kFp32);
}

// What was written up to format version 3: names, and the pixels of every so many images.
std::string sampled_content(const data::ImageStore& store) {
  constexpr int64_t kSampled = 256;
  const int64_t stride = std::max<int64_t>(1, store.size() / kSampled);
  uint32_t crc = 0;
  for (int64_t i = 0; i < store.size(); ++i) {
    const auto name = std::filesystem::path(store.sample(i).path).filename().string();
    crc = crc32(bytes_of(name + "\n"), crc);
    if (i % stride != 0) continue;
    data::Image scratch;
    const auto view = store.load(i, scratch);
    for (int64_t y = 0; y < view.height; ++y) {
      crc = crc32({view.row(y), static_cast<size_t>(view.width * data::Image::kChannels)}, crc);
    }
  }
  return fmt::format("{}, content {:08x}", store.size(), crc);
}

}  // namespace

RunIdentity identify_step(const StepSettings& settings, const data::ImageStore& images) {
  const auto& [options, method, recipe, trains, device, source] = settings;
  RunIdentity identity;
  const auto add = [&](const char* name, const auto& value) {
    identity.fields.push_back({"", name, fmt::format("{}", value)});
  };
  add("method", toml_string(method.spec->name));
  if (trains) {
    add("epochs", recipe.epochs);
    add("iterations", recipe.iterations);
    add("budget-iterations", options.resolve_iterations(recipe));
    add("batch-size", recipe.batch_size);
    add("lr", recipe.lr);
    add("added-lr", recipe.added_lr_factor);
    add("momentum", recipe.momentum);
    add("weight-decay", recipe.weight_decay);
    add("crop", toml_string(word_of(recipe.crop)));
    add("flip", recipe.flip);
    add("seed", options.seed);
    add("start-weights", toml_string(start_weights_of(options)));
    // Left out where nothing depends on it, so that steps of earlier versions stay what they are.
    const auto on_doubt = options.resolve_on_doubt(*method.spec);
    if (on_doubt != methods::OnDoubt::kAdapt) add("on-doubt", toml_string(word_of(on_doubt)));
    add(kPrecision, toml_string(effective_precision(settings)));
    // It rounds differently. Steps of earlier versions do not mention it.
    if (device.is_cpu() && options.compute.winograd == compute::Winograd::kOff) {
      add("winograd", toml_string("off"));
    }
  }
  identity.add(*method.options, "method");
  if (!source.empty()) identity.add_note(kSourceNote, source);
  identity.add_note(kImagesNote, describe_images(images, options.compute.resolved_threads()));
  return identity;
}

namespace {

// Options of the method that have been added since then had the value of their default; the
// temperature of label-shift, whose default was another, matters to that rule alone.
void add_later_options(RunIdentity& theirs, const RunIdentity& mine) {
  const auto* rule = theirs.find("method", "detection");
  const bool shifts = rule != nullptr && rule->value == "\"label-shift\"";
  for (size_t i = 0; i < mine.fields.size() && i <= theirs.fields.size(); ++i) {
    const auto& field = mine.fields[i];
    if (field.table != "method") continue;
    if (theirs.find(field.table, field.name) == nullptr) {
      theirs.fields.insert(theirs.fields.begin() + static_cast<std::ptrdiff_t>(i), field);
    } else if (!shifts && field.name == "label-shift-temperature") {
      theirs.fields[i] = field;
    }
  }
}

}  // namespace

RunIdentity upgraded(RunIdentity theirs, const RunIdentity& mine, const data::ImageStore& images) {
  const auto* precision = mine.find("", kPrecision);
  if (precision != nullptr && theirs.find("", kPrecision) == nullptr) {
    const auto behind_training =
        std::find_if(theirs.fields.begin(), theirs.fields.end(),
                     [](const auto& field) { return !field.table.empty(); });
    theirs.fields.insert(behind_training, *precision);
  }
  add_later_options(theirs, mine);
  const auto note = std::find_if(theirs.fields.begin(), theirs.fields.end(), [](const auto& field) {
    return field.table == RunIdentity::kNote && field.name == kImagesNote;
  });
  const bool is_sampled =
      note != theirs.fields.end() && note->value.find("content") != std::string::npos;
  if (is_sampled && note->value == sampled_content(images)) {
    *note = *mine.find(RunIdentity::kNote, kImagesNote);
  }
  return theirs;
}

// The manifest names the method once the first step is finished; until then the text of the
// unfinished step's identity does.
std::string method_of_state(const std::filesystem::path& folder) {
  const auto manifest = state::StateDirectory::read_manifest(folder);
  if (!manifest.method.empty() || !manifest.adapting) return manifest.method;
  const state::StateDirectory state(
      folder, [](const std::string& name) { return name == state::kTrainingAdaptFile; });
  if (!state.has(state::kTrainingAdaptFile)) return {};
  const auto identity = RunIdentity::parse(state.read_text(state::kTrainingAdaptFile));
  const auto* method = identity.find("", "method");
  if (method == nullptr) return {};
  for (const auto& entry : parse_toml("method = " + method->value, state::kTrainingAdaptFile)) {
    if (entry.values.size() == 1) return entry.values.front();
  }
  return {};
}

RunIdentity without_source(RunIdentity identity) {
  std::erase_if(identity.fields, [](const auto& field) {
    return field.table == RunIdentity::kNote && field.name == kSourceNote;
  });
  return identity;
}

bool have_same_images(const RunIdentity& one, const RunIdentity& other) {
  const auto* ours = one.find(RunIdentity::kNote, kImagesNote);
  const auto* theirs = other.find(RunIdentity::kNote, kImagesNote);
  return ours != nullptr && theirs != nullptr && *ours == *theirs;
}

}  // namespace proca::engine
