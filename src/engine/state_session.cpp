#include "engine/state_session.h"

#include <fmt/format.h>

#include "core/files/path.h"
#include "core/scope_timer.h"
#include "proca/core/error.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"
#include "state/start_event.h"
#include "state/step_files.h"
#include "training/step_trainer.h"

namespace proca::engine {
namespace {

const std::vector<std::string> kCheckpointFiles = {state::kTrainingFile, state::kTrainingMemoryFile,
                                                   state::kTrainingAdaptFile};

}  // namespace

StateSession::StateSession(const AdaptOptions& options, const std::filesystem::path& folder,
                           SessionOptions session)
    : folder_(normalise_path(folder)),
      session_(session),
      method_(methods::find_method(options.method.name()).name),
      tensorboard_folder_(options.tensorboard),
      compute_(options.compute) {
  check(state::StateDirectory::read_manifest(folder_));  // Before the lock is taken.
  const ScopeTimer timer("loading the state");
  writer_ = std::make_unique<state::StateWriter>(folder_);
  writer_->keep_steps(session.keep_steps);
  saver_ = std::make_unique<state::StateSaver>(*writer_);
  manifest_ = writer_->state().manifest();
  check(manifest_);
}

void StateSession::check(const state::Manifest& manifest) const {
  check_ready(manifest, folder_);
  const auto& used = manifest.method;
  if (used.empty() || used == method_) return;
  throw InputError(fmt::format("{}: has been adapted with {}, not {}; use --method {}",
                               folder_.string(), used, method_, used));
}

const state::StateDirectory& StateSession::files() {
  saver_->wait();
  return writer_->state();
}

std::optional<std::string> StateSession::step_file(int64_t step, const std::string& name) {
  const auto file = state::step_file_name(step, name);
  if (!files().has(file)) return std::nullopt;
  return files().read_text(file);
}

state::EventLog& StateSession::events() {
  if (events_) return *events_;
  events_.emplace(folder_ / state::kEventsFile, manifest_.events_bytes, manifest_.events_crc);
  if (!tensorboard_folder_.empty()) {
    tensorboard_.emplace(tensorboard_folder_, events_->count("adapt_epoch"));
    events_->observe(
        [this](const auto& event, const auto& fields) { tensorboard_->add(event, fields); });
  }
  state::write_start_event(*events_, compute_, compute::choose_device(compute_));
  return *events_;
}

void StateSession::write_step_event(const StepOutcome& outcome) {
  const auto device = compute::choose_device(compute_);
  events().write("step", {{"step", outcome.step},
                          {"images", outcome.num_images},
                          {"detected_classes", static_cast<int64_t>(outcome.detected.size())},
                          {"seconds", outcome.seconds},
                          {"peak_memory_bytes", compute::peak_host_bytes()},
                          {"peak_gpu_memory_bytes", compute::peak_device_bytes(device)}});
}

void StateSession::put_tensors(const std::string& file, const models::NamedTensors& tensors,
                               const std::map<std::string, std::string>& metadata) {
  saver_->wait();
  writer_->put_tensors(file, tensors, metadata);
}

void StateSession::commit(state::StateChange change) {
  describe_events();
  change.manifest = manifest_;
  session_.in_background ? saver_->save_later(std::move(change)) : saver_->save_now(change);
}

void StateSession::describe_events() {
  if (!events_) return;
  manifest_.events_bytes = events_->size();
  manifest_.events_crc = events_->crc();
}

void StateSession::load_method(methods::Method& method) {
  auto* const memory = method.memory();
  if (manifest_.step > 0) {  // A source model's state has nothing of a method.
    const auto& state = files();
    if (memory != nullptr && state.has(state::kMemoryFile)) {
      memory->load(state.read_tensors(state::kMemoryFile).tensors);
    }
    if (state.has(state::kMethodFile)) {
      const auto saved = state.read_tensors(state::kMethodFile).tensors;
      training::load_module_state(method.auxiliary_modules().get(),
                                  models::part_of(saved, "auxiliary."));
      method.load(models::part_of(saved, "method."));
    }
  }
  if (memory != nullptr) checkpoint_revision_ = finished_revision_ = memory->revision();
}

void StateSession::load_checkpoint(training::StepTrainer& trainer, methods::Method& method) {
  const auto& state = files();
  const training::StepPosition position{manifest_.adapting->epoch, manifest_.adapting->iteration};
  if (auto* memory = method.memory(); memory != nullptr && state.has(state::kTrainingMemoryFile)) {
    memory->load(state.read_tensors(state::kTrainingMemoryFile).tensors);
  }
  trainer.load(state.read_tensors(state::kTrainingFile).tensors, position);
  log_info(fmt::format("{}: step {} goes on after epoch {}, iteration {}", folder_.string(),
                       manifest_.step + 1, position.epoch, position.iteration));
}

void StateSession::save_checkpoint(const training::StepTrainer& trainer, methods::Method& method,
                                   const StepIdentity& identity) {
  trainer.check_finite();
  state::StateChange change;
  change.tensors.emplace_back(state::kTrainingFile, trainer.state());
  change.texts.emplace_back(state::kTrainingAdaptFile, identity.options);
  if (auto* memory = method.memory();
      memory != nullptr && memory->revision() != checkpoint_revision_) {
    change.tensors.emplace_back(state::kTrainingMemoryFile, memory->save());
    checkpoint_revision_ = memory->revision();
  }
  manifest_.adapting = {trainer.position().epoch, trainer.position().iteration, identity.digest};
  describe_events();
  change.manifest = manifest_;
  saver_->wait();
  saver_->save_now(change);  // The weights change with the next iteration.
}

void StateSession::discard_checkpoint() {
  log_warning(
      fmt::format("{}: the unfinished step {} is forgotten", folder_.string(), manifest_.step + 1));
  manifest_.adapting.reset();
  commit({.removed = kCheckpointFiles});
}

void StateSession::add_records(state::StateChange& change, methods::Method& method,
                               const data::ImageStore& target, const StepOutcome& outcome) {
  const auto& names = manifest_.model.class_names;
  const int64_t number = manifest_.step + 1;
  const auto put = [&](const char* name, std::string text) {
    change.texts.emplace_back(state::step_file_name(number, name), std::move(text));
  };
  if (const auto* decisions = method.decisions()) {
    put(state::kDetectionFile, state::detection_json(*decisions, names));
    put(state::kPseudoLabelsFile, state::pseudo_labels_csv(*decisions, target, names));
    if (outcome.trained) {
      state::add_labelled_classes(*decisions, manifest_.adapted_classes);
    }
  }
  if (outcome.health) {
    put(state::kHealthFile, state::health_json(*outcome.health, outcome.trained));
  }
  if (const auto* memory = method.memory()) {
    put(state::kPrototypesFile, state::prototypes_json(*memory, manifest_.step, names));
    if (tensorboard_) tensorboard_->add_prototypes(*memory, number, names);
  }
}

void StateSession::add_method(state::StateChange& change, methods::Method& method) {
  if (auto* memory = method.memory()) {
    if (memory->num_classes() > 0 && memory->revision() != finished_revision_) {
      change.tensors.emplace_back(state::kMemoryFile, memory->save());
    }
    checkpoint_revision_ = finished_revision_ = memory->revision();
  }
  models::NamedTensors saved;
  models::put_part(saved, "method.", method.save());
  models::put_part(saved, "auxiliary.", training::module_state(method.auxiliary_modules().get()));
  if (!saved.empty()) change.tensors.emplace_back(state::kMethodFile, std::move(saved));
}

void StateSession::finish_step(methods::Method& method, const models::ClassifierNetwork& network,
                               const data::ImageStore& target, const StepIdentity& identity,
                               const StepOutcome& outcome, state::FeatureSets features) {
  const ScopeTimer timer("describing the step");
  write_step_event(outcome);
  state::StateChange change{.removed = kCheckpointFiles};
  add_records(change, method, target, outcome);
  if (method.trains()) change.tensors.emplace_back(state::kModelFile, network->state());
  add_method(change, method);
  const int64_t number = manifest_.step + 1;
  if (features.target.size() > 0) {
    change.computed.emplace_back(
        state::step_file_name(number, state::kFeaturesFile),
        [features = std::move(features)] { return state::make_feature_record(features).save(); });
  }
  change.texts.emplace_back(state::kAdaptFile, identity.options);
  change.texts.emplace_back(state::step_file_name(number, state::kStepOptionsFile),
                            identity.options);
  manifest_.model.neck = network->neck_layout();
  manifest_.adapting.reset();
  manifest_.method = method_;
  manifest_.step_digest = identity.digest;
  manifest_.step = number;
  commit(std::move(change));
}

void copy_source_state(const std::filesystem::path& source, const std::filesystem::path& folder) {
  if (!state::StateDirectory::exists(folder)) copy_source_state(open_ready(source), folder);
}

void copy_source_state(const state::StateDirectory& source, const std::filesystem::path& folder) {
  if (state::StateDirectory::exists(folder)) return;
  const ScopeTimer timer("copying the source state");
  state::StateWriter writer(folder);
  writer.put_copy(state::kSourceFile, source, state::kSourceFile);
  writer.put_copy(state::kModelFile, source, state::kSourceFile);
  for (const auto* file :
       {state::kConfigFile, state::kScriptFile, state::kCentresFile, state::kKeptSourceFile}) {
    if (source.has(file)) writer.put_copy(file, source, file);
  }
  auto manifest = source.manifest();
  record_source(manifest, find_source(manifest, source.folder()), folder);
  manifest.step = 0;
  manifest.events_bytes = 0;
  manifest.events_crc.reset();
  manifest.method.clear();
  manifest.model.neck.clear();
  manifest.adapted_classes.clear();
  manifest.step_digest.clear();
  manifest.adapting.reset();
  writer.commit(manifest);
}

}  // namespace proca::engine
