#include "experiments/protocol_runner.h"

#include <future>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/counted.h"
#include "core/files/lock_file.h"
#include "core/files/path.h"
#include "core/files/text_checksum.h"
#include "engine/run_identity.h"
#include "engine/state_session.h"
#include "engine/step_inputs.h"
#include "experiments/run_identity.h"
#include "experiments/step_measure.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"

namespace proca::experiments {
namespace {

namespace fs = std::filesystem;
constexpr const char* kRunConfigFile = "run.toml";

// The classes of a state, as a listing without images. Classes that are called by their numbers
// are those of a list file without names.
data::ImageListing class_listing(const state::StateDirectory& state) {
  data::ImageListing listing{.origin = state.folder().string(),
                             .samples = {},
                             .class_names = state.manifest().model.class_names,
                             .label_meaning = data::LabelMeaning::kNumber};
  for (size_t label = 0; label < listing.class_names.size(); ++label) {
    if (listing.class_names[label] != std::to_string(label)) {
      listing.label_meaning = data::LabelMeaning::kName;
    }
  }
  return listing;
}

class ProtocolRun {
 public:
  ProtocolRun(const RunOptions& options, const protocol::Preset& preset, fs::path out)
      : options_(options), out_(normalise_path(out)) {
    if (options_.adapt.load.root.empty()) options_.adapt.load.root = options.data_root;
    const auto source = list_source(preset);
    const auto target_path = protocol::find_target(preset, options.data_root, options.target);
    if (options_.keep.per_class > 0) options_.adapt.source_images = engine::SourceImages::kKept;
    options_.pretrain.load = options_.adapt.load;
    take_start_weights();
    class_names_ = source.class_names;
    auto schedule = protocol::make_schedule(preset, options.source, options.target, source,
                                            options.classes_per_step);
    target_.emplace(data::open_images(target_path, {.labels = data::Labels::kRequired,
                                                    .root = options_.adapt.load.root,
                                                    .known_classes = class_names_}),
                    std::move(schedule), options_.adapt.load,
                    options_.adapt.compute.resolved_threads());
    check_config();
  }

  SeedResult run(int64_t seed) {
    const WorkName name(fmt::format("{} -> {}, seed {}", options_.source, options_.target, seed));
    const auto folder = out_ / fmt::format("seed-{}", seed);
    auto adapt = options_.adapt;
    adapt.seed = seed;
    adapt.tensorboard = tensorboard_folder(folder.filename());
    auto decoding = begin_state(seed, folder);
    const auto parts = open_parts(adapt, folder);
    engine::Adapter adapter(adapt, parts);
    decoding.get();
    parts.inputs->limit_memory(adapt.load.beside(target_->store()).cache_ram);
    if (adapter.manifest().step == 0 && methods::find_method(adapt.method.name()).trains) {
      parts.inputs->prepare_source();
    }
    SeedResult result{.seed = seed};
    StepMeasure evaluation(*target_, class_names_, adapter, parts, out_.string());
    std::vector<protocol::StepRecord> records;
    const auto source_record = evaluation.record_of(0, records);
    for (int64_t step = 1; step <= target_->schedule().num_steps(); ++step) {
      if (adapter.manifest().step < step) {
        result.seconds += adapt_step(adapter, *parts.inputs, step);
        records.push_back(evaluation.measure(step, records));
      } else {
        records.push_back(evaluation.record_of(step, records));
      }
    }
    parts.session->settle();  // Before anything is reported.
    result.metrics = protocol::summarise(target_->schedule(), source_record.classes, records);
    return result;
  }

 private:
  // Returns while the target images are still being decoded.
  std::future<void> begin_state(int64_t seed, const fs::path& folder) {
    const auto source_state = engine::open_ready(prepare_source(seed));
    check_source_state(source_state);
    write_config();
    const auto manifest = state::StateDirectory::exists(folder)
                              ? state::StateDirectory::read_manifest(folder)
                              : source_state.manifest();
    auto decoding = std::async(
        std::launch::async,
        [this, preprocessing = manifest.model.preprocessing] { target_->load(preprocessing); });
    engine::copy_source_state(source_state, folder);
    engine::keep_source_images(folder, options_.keep, options_.adapt.load, options_.adapt.compute);
    return decoding;
  }

  engine::AdapterParts open_parts(const engine::AdaptOptions& adapt, const fs::path& folder) {
    engine::AdapterParts parts;
    parts.session = std::make_shared<engine::StateSession>(
        adapt, folder, engine::SessionOptions{.in_background = true, .record_features = false});
    // Images of all seeds are kept in the same place: the target's go there once.
    parts.inputs = std::make_shared<engine::StepInputs>(adapt, parts.session, device_images_);
    device_images_ = parts.inputs->device_images();
    if (parts.session->manifest().step < target_->schedule().num_steps()) {
      parts.warm_up = engine::begin_training_warm_up(adapt, *parts.session);
    }
    return parts;
  }

  // Returns how long it took.
  double adapt_step(engine::Adapter& adapter, engine::StepInputs& inputs, int64_t step) {
    log_step(fmt::format("step {} of {}: {}", step, target_->schedule().num_steps(),
                         counted(std::ssize(target_->step(step)), "image")));
    if (const auto size = inputs.training_size()) {
      inputs.set_training_images(target_->unlabelled(step, *size));
    }
    return adapter.adapt(target_->unlabelled(step), engine::SameImages::kAdaptAgain).seconds;
  }

  // The classes of the source images decide the order of the steps. Where the images are gone, a
  // given state that keeps some knows the classes.
  data::ImageListing list_source(const protocol::Preset& preset) {
    if (!options_.source_state.empty() &&
        !protocol::has_source(preset, options_.data_root, options_.source)) {
      const auto state = engine::open_ready(source_state_of(options_.seeds.front()));
      if (state.has(state::kKeptSourceFile)) return class_listing(state);
    }
    const auto paths =
        protocol::find_task(preset, options_.data_root, options_.source, options_.target);
    options_.pretrain.source = paths.source.string();
    const auto source = data::open_images(
        paths.source, {.labels = data::Labels::kRequired, .root = options_.adapt.load.root});
    source_description_ = engine::describe_images(source->listing());
    return source->listing();
  }

  // The weights that source training starts from are what most methods' authors start
  // adaptation from.
  void take_start_weights() {
    auto& adapt = options_.adapt;
    const auto& spec = methods::find_method(adapt.method.name());
    const bool wanted =
        adapt.resolve(spec.recipe).start == methods::TrainingRecipe::Start::kWeights;
    if (wanted && adapt.start_weights.empty()) adapt.start_weights = options_.pretrain.weights;
  }

  // A model of another domain would run just as well, and be reported as this one's.
  void check_source_state(const state::StateDirectory& state) const {
    const auto identity = engine::RunIdentity::parse(state.read_text(state::kConfigFile));
    const auto* images = identity.find(engine::RunIdentity::kNote, "images");
    const bool same_images =
        source_description_.empty() || (images != nullptr && images->value == source_description_);
    if (state.manifest().model.class_names == class_names_ && same_images) return;
    throw InputError(fmt::format("{}: was not trained on the images of {}, {}",
                                 state.folder().string(), options_.source,
                                 options_.pretrain.source));
  }

  engine::RunIdentity identity() const {
    auto identity = identify_options(options_);
    int64_t step = 0;
    for (const auto& classes : target_->schedule().steps) {
      identity.add_note(fmt::format("step {}", ++step),
                        fmt::format("classes {}", fmt::join(classes, ", ")));
    }
    identity.add_note("images", engine::describe_images(target_->listing()));
    if (source_description_.empty()) identity.add_note("source images", "kept");
    return identity;
  }

  void check_config() {
    identity_ = identity();
    std::error_code ignored;
    if (!fs::exists(out_ / kRunConfigFile, ignored)) return;
    const auto text = read_text_file(out_ / kRunConfigFile);
    refuse_wrong_checksum(check_toml_checksum(text), (out_ / kRunConfigFile).string());
    const auto theirs = engine::RunIdentity::parse(text);
    RunOptions defaults;
    OptionSet known;
    defaults.bind(known);
    if (with_absolute_paths(theirs, known) != with_absolute_paths(identity_, known)) {
      engine::refuse_other_identity((out_ / kRunConfigFile).string(), "holds a run", theirs,
                                    identity_, "use another --out");
    }
  }

  // Once a source model is there: a command that failed before has fixed nothing yet.
  void write_config() {
    create_writable_folder(out_);
    std::error_code ignored;
    if (!fs::exists(out_ / kRunConfigFile, ignored)) {
      write_file(out_ / kRunConfigFile, append_toml_checksum(identity_.text()));
    }
  }

  fs::path source_state_of(int64_t seed) const {
    return replace_all(options_.source_state, "{seed}", std::to_string(seed));
  }

  fs::path prepare_source(int64_t seed) {
    if (!options_.source_state.empty()) return source_state_of(seed);
    auto training = options_.pretrain;
    training.seed = seed;
    training.checkpoint_every = options_.adapt.checkpoint_every;
    const auto folder = out_ / fmt::format("source-{}", seed);
    training.tensorboard = tensorboard_folder(folder.filename());
    engine::train_source(training, folder);
    return folder;
  }

  // Runs beside each other in one folder have names of their own.
  std::string tensorboard_folder(const fs::path& part) const {
    const fs::path folder = options_.adapt.tensorboard;
    if (folder.empty()) return {};
    const auto place = (fs::absolute(out_) / "").lexically_normal();  // Ends in a slash.
    return (folder / place.parent_path().filename() / part).string();
  }

  RunOptions options_;
  fs::path out_;
  engine::RunIdentity identity_;
  std::vector<std::string> class_names_;
  std::string source_description_;  // empty where the images are gone
  std::optional<TargetSteps> target_;
  std::shared_ptr<training::DeviceImages> device_images_;  // made for the first seed
};

}  // namespace

std::vector<SeedResult> run_protocol(const RunOptions& options, const protocol::Preset& preset,
                                     const fs::path& out) {
  // Before lists and images are read, which takes a while.
  for (const int64_t seed : options.seeds) {
    refuse_if_locked(out / fmt::format("source-{}", seed) / state::kLockFile);
    refuse_if_locked(out / fmt::format("seed-{}", seed) / state::kLockFile);
  }
  ProtocolRun run(options, preset, out);
  std::vector<SeedResult> results;
  for (const int64_t seed : options.seeds) results.push_back(run.run(seed));
  return results;
}

}  // namespace proca::experiments
