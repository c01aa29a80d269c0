#include "proca/engine/adapter.h"
#include "state/state_writer.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <torch/types.h>

#include "core/files/path.h"
#include "core/scope_timer.h"
#include "core/stopwatch.h"
#include "distributed/agreement.h"
#include "engine/run_config.h"
#include "engine/start_weights.h"
#include "engine/step_features.h"
#include "engine/step_views.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"
#include "proca/models/named_tensors.h"
#include "proca/state/event_log.h"
#include "state/start_event.h"
#include "state/state_files.h"
#include "state/state_saver.h"
#include "state/step_files.h"
#include "state/tensorboard_log.h"
#include "training/feeds/device_images.h"
#include "training/step_trainer.h"
#include "training/training_warm_up.h"

namespace proca::engine {

namespace fs = std::filesystem;

namespace {

// Of a step under way.
const std::vector<std::string> kTrainingFiles = {state::kTrainingFile, state::kTrainingMemoryFile,
                                                 state::kTrainingAdaptFile};

}  // namespace

class Adapter::Implementation {
 public:
  Implementation(const AdaptOptions& options, fs::path folder,
                 std::shared_ptr<training::DeviceImages> images, Purpose purpose)
      : options_(options),
        folder_(normalise_path(folder)),
        method_choice_(options.method.resolve(options.method_defaults)),
        recipe_(options.resolve(method_choice_.spec->recipe)),
        device_(compute::prepare_compute(options.compute)),
        images_(std::move(images)) {
    check_state(
        state::StateDirectory::read_manifest(folder_));  // Before anything is locked or made.
    const ScopeTimer timer("loading the state");
    writer_ = std::make_unique<state::StateWriter>(folder_);
    saver_ = std::make_unique<state::StateSaver>(*writer_);
    const auto& state = writer_->state();
    check_state(state.manifest());
    manifest_ = state.manifest();
    if (!images_) {
      images_ = std::make_shared<training::DeviceImages>(
          device_, training::image_budget(options.load.cache_gpu, device_),
          options.compute.resolved_threads());
    }
    inference_ = {.device = device_,
                  .batch_size = inference_batch_size(device_),
                  .precision = options_.compute.precision,
                  .images = images_.get(),
                  .threads = options_.compute.resolved_threads(),
                  .ranks = options_.compute.ranks.get()};
    const bool trains = purpose == Purpose::kSteps && method_choice_.spec->trains;
    if (trains && device_.is_cuda() && !options_.compute.ranks) {
      warm_up_ = std::make_unique<training::TrainingWarmUp>(training::WarmUpSetup{
          .build_network = [model = manifest_.model,
                            folder =
                                folder_] { return build_network(model, std::nullopt, folder); },
          .build_method = method_choice_.build,
          .recipe = recipe_,
          .image_size = manifest_.model.preprocessing.image_size,
          .step = manifest_.step,
          .compute = options_.compute});
    }
    network_ = load_model(state).network;
    network_->to(device_);
    views_ = std::make_unique<StepViews>(*writer_, manifest_.model, network_, inference_);
    // One rank may find there what another does not.
    if (!options_.compute.ranks) views_->set_cache(FrozenCache(options_.frozen_cache));
    views_->set_barrier([this] { saver_->wait(); });
    // Before the first step the network is the source model, and stays it until `adapt`:
    // a method may change it as soon as it is built.
    if (manifest_.step > 0) build_method();
  }

  ~Implementation() { forget_step_images(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  StepOutcome adapt(std::shared_ptr<const data::ImageSource> target, SameImages same_images,
                    Unfinished unfinished) {
    const Stopwatch watch;
    if (unusable_) throw Error("this Adapter's last step failed; make a new one");
    if (target->listing().size() == 0) {
      throw InputError(fmt::format("{}: holds no image", target->listing().origin));
    }
    if (!method_) build_method();
    finished_decisions_ = false;
    forget_step_images();
    target_ = std::make_unique<data::ImageStore>(options_.load.make_store(
        target, manifest_.model.preprocessing.resolved_resize(), inference_.threads));
    views_->set_target(*target_);
    target_source_ = training_images_ ? std::move(training_images_) : target;
    training_images_.reset();
    {
      const ScopeTimer timer("describing the images");
      step_options_ = describe_step();
    }
    const auto step_digest = digest(step_options_);
    StepOutcome outcome{.step = manifest_.step + 1, .num_images = target_->size()};
    if (same_images == SameImages::kSkip && !manifest_.adapting &&
        manifest_.step_digest == step_digest) {
      outcome.step = manifest_.step;
      outcome.already_done = true;
      return outcome;
    }
    check_unfinished(step_digest, unfinished);
    unusable_ = true;  // Until the step is done: a failure leaves a half-trained network.
    if (method_->trains()) {
      train(step_digest, outcome);
    } else {
      state::EventLog events(folder_ / "events.jsonl", manifest_.events_bytes,
                             manifest_.events_crc);
      announce(events);
      write_step_event(events, outcome, watch.seconds());
    }
    outcome.seconds = watch.seconds();
    finish_step(step_digest);
    unusable_ = false;
    return outcome;
  }

  const state::Manifest& manifest() const { return manifest_; }
  const models::ClassifierNetwork& network() const { return network_; }
  torch::Device device() const { return device_; }
  const std::shared_ptr<training::DeviceImages>& images() const { return images_; }
  const methods::StepDecisions* decisions() const {
    return finished_decisions_ && method_ ? method_->decisions() : nullptr;
  }

  std::optional<data::ResizeOptions> training_size() const {
    return training::training_resize(recipe_, manifest_.model.preprocessing);
  }
  void set_training_images(std::shared_ptr<const data::ImageSource> images) {
    training_images_ = std::move(images);
  }

  void limit_image_memory(int64_t bytes) { options_.load.cache_ram = bytes; }

  void prepare_step() {
    if (!method_choice_.spec->trains) return;
    if (!method_ || method_->uses_source(manifest_.step)) {
      views_->prepare_source(options_.load, training_size());
    }
  }

  void save_in_background() { saver_->save_in_background(); }
  void settle() { saver_->wait(); }

  void put_step_files(int64_t step, StepFiles files) {
    state::StateChange change{.manifest = manifest_};
    for (auto& [name, text] : files.texts) {
      change.texts.emplace_back(state::step_file_name(step, name), std::move(text));
    }
    for (auto& [name, compute] : files.tensors) {
      change.computed.emplace_back(state::step_file_name(step, name), std::move(compute));
    }
    saver_->save(std::move(change));
  }

  void write_event(const std::string& event, const std::vector<state::EventField>& fields) {
    state::EventLog events(folder_ / "events.jsonl", manifest_.events_bytes, manifest_.events_crc);
    announce(events);
    events.write(event, fields);
    keep(events);
  }

  void leave_features_to_caller() { records_features_ = false; }

  std::vector<std::string> shown_prototypes() const {
    const auto* memory = method_ ? method_->memory() : nullptr;
    return memory != nullptr ? engine::shown_prototypes(*memory) : std::vector<std::string>{};
  }

  state::FeatureSets reference_features(const state::FeaturePoints& seen) {
    const ScopeTimer timer("features of prototypes");
    state::FeatureSets sets;
    if (const auto* memory = method_ ? method_->memory() : nullptr) {
      sets.prototypes =
          prototype_points(*memory, seen, network_, manifest_.model.preprocessing, inference_);
    }
    sets.centres = centre_points(views_->known_centres(), network_);
    return sets;
  }

  std::optional<std::string> step_file(int64_t step, const std::string& name) {
    saver_->wait();
    const auto& state = writer_->state();
    const auto file = state::step_file_name(step, name);
    if (!state.has(file)) return std::nullopt;
    return state.read_text(file);
  }

 private:
  void check_state(const state::Manifest& manifest) const {
    check_ready(manifest, folder_);
    const auto& used = manifest.method;
    if (used.empty() || used == method_choice_.spec->name) return;
    throw InputError(fmt::format("{}: has been adapted with {}, not {}; use --method {}",
                                 folder_.string(), used, method_choice_.spec->name, used));
  }

  void build_method() {
    if (manifest_.step == 0)
      start_network(network_, options_, *method_choice_.spec, manifest_.model, folder_);
    method_ = method_choice_.build(network_, static_cast<uint64_t>(options_.seed));
    // A source model's state has nothing of a method, and may be being written to.
    if (manifest_.step > 0) load_method(writer_->state());
    if (auto* memory = method_->memory()) {
      saved_revision_ = finished_revision_ = memory->revision();
    }
  }

  void load_method(const state::StateDirectory& state) {
    if (auto* memory = method_->memory(); memory != nullptr && state.has(state::kMemoryFile)) {
      memory->load(state.read_tensors(state::kMemoryFile).tensors);
    }
    if (!state.has(state::kMethodFile)) return;
    const auto saved = state.read_tensors(state::kMethodFile).tensors;
    training::load_module_state(method_->auxiliary_modules().get(),
                                models::part_of(saved, "auxiliary."));
    method_->load(models::part_of(saved, "method."));
    finished_decisions_ = true;
  }

  std::string describe_step() const {
    std::string text = fmt::format("method = {}\n", toml_string(method_choice_.spec->name));
    if (method_->trains()) {
      text += describe_training(options_, recipe_);
    }
    return text + "\n[method]\n" + method_choice_.toml + describe_content(*target_);
  }

  void check_unfinished(const std::string& step_digest, Unfinished unfinished) {
    if (!manifest_.adapting || manifest_.adapting->digest == step_digest) return;
    saver_->wait();
    if (unfinished == Unfinished::kRefuse) {
      refuse_other_options(folder_.string(),
                           fmt::format("step {} is under way", manifest_.step + 1),
                           writer_->state().read_text(state::kTrainingAdaptFile), step_options_,
                           "give the same command to go on, or --discard-unfinished to forget it");
    }
    log_warning(fmt::format("{}: the unfinished step {} is forgotten", folder_.string(),
                            manifest_.step + 1));
    manifest_.adapting.reset();
    saver_->save({.removed = kTrainingFiles, .manifest = manifest_});
  }

  void forget_step_images() {
    if (target_) images_->forget(*target_);
    if (target_training_) images_->forget(*target_training_);
    target_training_.reset();
  }

  // The training view of a step's images: its own store, unless that of evaluation will do.
  training::TrainingImages target_images(data::LoadOptions& load) {
    training::TrainingImages images{
        target_.get(), training::training_augmentation(recipe_, manifest_.model.preprocessing)};
    if (const auto size = training_size()) {
      target_training_ = std::make_unique<data::ImageStore>(
          load.make_store(target_source_, *size, inference_.threads));
      if (target_training_->size() != target_->size()) {
        throw InputError(fmt::format("{}: {} images can be used as a whole, {} in parts",
                                     target_->origin(), target_->size(), target_training_->size()));
      }
      images.store = target_training_.get();
      load.cache_ram = std::max<int64_t>(0, load.cache_ram - target_training_->cached_bytes());
    }
    return images;
  }

  training::TrainingImages source_images(const data::LoadOptions& load) {
    if (!method_->uses_source(manifest_.step)) return {};
    const auto& source = views_->source(load);
    const auto size = training_size();
    return {size ? &source.training_store(*size) : &source.store(),
            training::training_augmentation(recipe_, manifest_.model.preprocessing)};
  }

  void train(const std::string& step_digest, StepOutcome& outcome) {
    const Stopwatch watch;
    auto load = options_.load;  // What the target images left of the memory.
    load.cache_ram = std::max<int64_t>(0, load.cache_ram - target_->cached_bytes());
    const auto target = target_images(load);
    const auto source = source_images(load);
    auto context = views_->context();
    context.step = manifest_.step;
    context.seed = static_cast<uint64_t>(options_.seed);
    training::StepTrainer trainer({.network = network_,
                                   .method = method_.get(),
                                   .source = source,
                                   .target = target,
                                   .preprocessing = manifest_.model.preprocessing,
                                   .recipe = recipe_,
                                   .num_iterations = options_.resolve_iterations(recipe_),
                                   .context = std::move(context),
                                   .device = device_,
                                   .compute = options_.compute,
                                   .images = images_.get()},
                                  iteration_);
    if (manifest_.adapting) resume(trainer);
    state::EventLog events(folder_ / "events.jsonl", manifest_.events_bytes, manifest_.events_crc);
    announce(events);
    Stopwatch since_saving;
    const auto save = [&] {
      trainer.check_finite();
      manifest_.adapting = {trainer.position().epoch, trainer.position().iteration, step_digest};
      keep(events);
      save_training(trainer);
      since_saving.restart();
    };
    warm_up_.reset();
    try {
      trainer.run(events, [&] {
        if (trainer.is_done()) return;  // The whole step is saved next.
        throw_if_interrupted("stopped");
        if (since_saving.seconds() >= static_cast<double>(options_.checkpoint_every)) save();
      });
    } catch (const Interrupted&) {
      if (!trainer.has_begun()) throw;  // Nothing to save yet.
      save();
      throw Interrupted("stopped and saved; the same command goes on from here");
    }
    if (auto* const ranks = options_.compute.ranks.get()) {  // What is compared is copied first.
      distributed::check_agreement(ranks, "network", network_->state());
      distributed::check_agreement(ranks, "method's state", method_->save());
      if (auto* memory = method_->memory())
        distributed::check_agreement(ranks, "memory", memory->save());
    }
    trainer.check_finite();
    outcome.losses = trainer.losses();
    if (const auto* decisions = method_->decisions()) {
      outcome.detected = decisions->shared_classes.classes;
    }
    write_step_event(events, outcome, watch.seconds());
  }

  void resume(training::StepTrainer& trainer) {
    saver_->wait();
    const auto& state = writer_->state();
    const training::StepPosition position{manifest_.adapting->epoch, manifest_.adapting->iteration};
    if (auto* memory = method_->memory();
        memory != nullptr && state.has(state::kTrainingMemoryFile)) {
      memory->load(state.read_tensors(state::kTrainingMemoryFile).tensors);
    }
    trainer.load(state.read_tensors(state::kTrainingFile).tensors, position);
    log_info(fmt::format("{}: step {} goes on after epoch {}, iteration {}", folder_.string(),
                         manifest_.step + 1, position.epoch, position.iteration));
  }

  void save_training(const training::StepTrainer& trainer) {
    saver_->wait();
    writer_->put_tensors(state::kTrainingFile, trainer.state(), {});
    writer_->put_text(state::kTrainingAdaptFile, step_options_);
    if (auto* memory = method_->memory();
        memory != nullptr && memory->revision() != saved_revision_) {
      writer_->put_tensors(state::kTrainingMemoryFile, memory->save(), {});
      saved_revision_ = memory->revision();
    }
    writer_->commit(manifest_);
  }

  // Once in every process.
  void announce(state::EventLog& events) {
    if (!options_.tensorboard.empty()) {
      if (!tensorboard_) tensorboard_.emplace(options_.tensorboard, events.count("adapt_epoch"));
      events.observe(
          [this](const auto& event, const auto& fields) { tensorboard_->add(event, fields); });
    }
    if (!announced_) state::write_start_event(events, options_.compute, device_);
    announced_ = true;
  }

  void keep(const state::EventLog& events) {
    manifest_.events_bytes = events.size();
    manifest_.events_crc = events.crc();
  }

  void write_step_event(state::EventLog& events, const StepOutcome& outcome, double seconds) {
    events.write("step", {{"step", outcome.step},
                          {"images", outcome.num_images},
                          {"detected_classes", static_cast<int64_t>(outcome.detected.size())},
                          {"seconds", seconds},
                          {"peak_memory_bytes", compute::peak_host_bytes()},
                          {"peak_gpu_memory_bytes", compute::peak_device_bytes(device_)}});
    keep(events);
  }

  void finish_step(const std::string& step_digest) {
    const ScopeTimer timer("describing the step");
    const auto& names = manifest_.model.class_names;
    const int64_t number = manifest_.step + 1;
    state::StateChange change{.removed = kTrainingFiles};
    const auto put_text = [&](const std::string& name, std::string text) {
      change.texts.emplace_back(name, std::move(text));
    };
    if (const auto* decisions = method_->decisions()) {
      put_text(state::step_file_name(number, "detection.json"),
               state::detection_json(*decisions, names));
      put_text(state::step_file_name(number, "pseudo_labels.csv"),
               state::pseudo_labels_csv(*decisions, *target_, names));
    }
    if (auto* memory = method_->memory()) {
      put_text(state::step_file_name(number, "prototypes.json"),
               state::prototypes_json(*memory, manifest_.step, names));
      if (tensorboard_) tensorboard_->add_prototypes(*memory, number, names);
      if (memory->num_classes() > 0 && memory->revision() != finished_revision_) {
        change.tensors.emplace_back(state::kMemoryFile, memory->save());
      }
      saved_revision_ = finished_revision_ = memory->revision();
    }
    if (method_->trains()) change.tensors.emplace_back(state::kModelFile, network_->state());
    models::NamedTensors method_state;
    models::put_part(method_state, "method.", method_->save());
    models::put_part(method_state, "auxiliary.",
                     training::module_state(method_->auxiliary_modules().get()));
    if (!method_state.empty())
      change.tensors.emplace_back(state::kMethodFile, std::move(method_state));
    if (records_features_) {
      state::FeatureSets sets;
      try {
        sets = reference_features({});
        sets.target = target_points(*target_, method_->decisions(), network_,
                                    manifest_.model.preprocessing, inference_);
      } catch (const c10::Error& error) {
        // Nothing depends on it: no reason to lose a step.
        log_warning(fmt::format("{} is left out: {}", state::kFeaturesFile,
                                error.what_without_backtrace()));
      }
      if (sets.target.size() > 0) {
        change.computed.emplace_back(
            state::step_file_name(number, state::kFeaturesFile),
            [sets = std::move(sets)] { return state::make_feature_record(sets).save(); });
      }
    }
    put_text(state::kAdaptFile, step_options_);
    put_text(state::step_file_name(number, "options.toml"), step_options_);
    if (const auto* decisions = method_->decisions()) {
      state::add_labelled_classes(*decisions, manifest_.adapted_classes);
    }
    manifest_.model.neck = network_->neck_layout();
    manifest_.adapting.reset();
    manifest_.method = method_choice_.spec->name;
    manifest_.step_digest = step_digest;
    manifest_.step = number;
    change.manifest = manifest_;
    saver_->save(std::move(change));
    finished_decisions_ = true;
  }

  AdaptOptions options_;
  fs::path folder_;
  methods::MethodOptions::Resolved method_choice_;
  methods::TrainingRecipe recipe_;
  torch::Device device_;
  std::shared_ptr<training::DeviceImages> images_;
  InferenceOptions inference_;
  std::unique_ptr<state::StateWriter> writer_;
  std::unique_ptr<state::StateSaver> saver_;  // ends before the writer
  state::Manifest manifest_;
  models::ClassifierNetwork network_{nullptr};
  std::unique_ptr<methods::Method> method_;
  std::unique_ptr<training::TrainingIteration> iteration_;  // of the last step
  std::unique_ptr<training::TrainingWarmUp> warm_up_;       // of the first step
  int64_t saved_revision_ = 0;                              // of the memory in the last checkpoint
  int64_t finished_revision_ = 0;  // of the memory of the last finished step
  std::unique_ptr<StepViews> views_;
  // Of the step under way.
  std::unique_ptr<data::ImageStore> target_, target_training_;
  std::shared_ptr<const data::ImageSource> target_source_;    // what to train on
  std::shared_ptr<const data::ImageSource> training_images_;  // given for the next step
  std::string step_options_;
  bool finished_decisions_ = false;
  bool unusable_ = false;
  bool records_features_ = true;
  bool announced_ = false;
  std::optional<state::TensorBoardLog> tensorboard_;
};

Adapter::Adapter(const AdaptOptions& options, fs::path state,
                 std::shared_ptr<training::DeviceImages> images, Purpose purpose)
    : implementation_(std::make_unique<Implementation>(options, std::move(state), std::move(images),
                                                       purpose)) {}
Adapter::~Adapter() = default;

StepOutcome Adapter::adapt(std::shared_ptr<const data::ImageSource> target, SameImages same_images,
                           Unfinished unfinished) {
  return implementation_->adapt(std::move(target), same_images, unfinished);
}
const state::Manifest& Adapter::manifest() const { return implementation_->manifest(); }
const models::ClassifierNetwork& Adapter::network() const { return implementation_->network(); }
torch::Device Adapter::device() const { return implementation_->device(); }
const std::shared_ptr<training::DeviceImages>& Adapter::images() const {
  return implementation_->images();
}
const methods::StepDecisions* Adapter::decisions() const { return implementation_->decisions(); }
std::optional<data::ResizeOptions> Adapter::training_resize() const {
  return implementation_->training_size();
}
void Adapter::set_training_images(std::shared_ptr<const data::ImageSource> images) {
  implementation_->set_training_images(std::move(images));
}
void Adapter::limit_image_memory(int64_t bytes) { implementation_->limit_image_memory(bytes); }
void Adapter::prepare_step() { implementation_->prepare_step(); }
void Adapter::save_in_background() { implementation_->save_in_background(); }
void Adapter::settle() { implementation_->settle(); }
std::vector<std::string> Adapter::shown_prototypes() const {
  return implementation_->shown_prototypes();
}
state::FeatureSets Adapter::reference_features(const state::FeaturePoints& seen) {
  return implementation_->reference_features(seen);
}
void Adapter::leave_features_to_caller() { implementation_->leave_features_to_caller(); }
void Adapter::write_event(const std::string& event, const std::vector<state::EventField>& fields) {
  implementation_->write_event(event, fields);
}
void Adapter::put_step_files(int64_t step, StepFiles files) {
  implementation_->put_step_files(step, std::move(files));
}
std::optional<std::string> Adapter::step_file(int64_t step, const std::string& name) const {
  return implementation_->step_file(step, name);
}

}  // namespace proca::engine
