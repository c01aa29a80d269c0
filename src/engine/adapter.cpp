#include "proca/engine/adapter.h"

#include <fmt/format.h>
#include <torch/types.h>

#include "core/files/path.h"
#include "core/files/text_checksum.h"
#include "core/scope_timer.h"
#include "core/stopwatch.h"
#include "distributed/agreement.h"
#include "engine/start_weights.h"
#include "engine/state_session.h"
#include "engine/step_features.h"
#include "engine/step_identity.h"
#include "engine/step_inputs.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"
#include "training/step_trainer.h"
#include "training/training_warm_up.h"

namespace proca::engine {
namespace {

AdaptOptions following(AdaptOptions options, const std::filesystem::path& folder) {
  options.method.follow(method_of_state(normalise_path(folder)));
  return options;
}

AdapterParts open_parts(const AdaptOptions& options, const std::filesystem::path& folder) {
  auto session = std::make_shared<StateSession>(options, folder,
                                                SessionOptions{.keep_steps = options.keep_steps});
  // First the images' share of the free memory of a GPU, then what the warm-up takes.
  auto inputs = std::make_shared<StepInputs>(options, session);
  auto warm_up = begin_training_warm_up(options, *session);
  return {std::move(session), std::move(inputs), std::move(warm_up)};
}

}  // namespace

std::shared_ptr<training::TrainingWarmUp> begin_training_warm_up(const AdaptOptions& options,
                                                                 const StateSession& session) {
  const auto method = options.method.resolve(options.method_defaults);
  const bool on_gpu = compute::choose_device(options.compute).is_cuda();
  if (!method.spec->trains || !on_gpu || options.compute.ranks) return nullptr;
  const auto& manifest = session.manifest();
  return std::make_shared<training::TrainingWarmUp>(
      training::WarmUpSetup{.build_network =
                                [model = manifest.model, folder = session.folder()] {
                                  return build_network(model, std::nullopt, folder);
                                },
                            .build_method = method.build,
                            .recipe = options.resolve(method.spec->recipe),
                            .image_size = manifest.model.preprocessing.image_size,
                            .step = manifest.step,
                            .compute = options.compute});
}

Adapter::Adapter(const AdaptOptions& options, const std::filesystem::path& state)
    : Adapter(following(options, state), open_parts(following(options, state), state)) {}

Adapter::Adapter(const AdaptOptions& options, AdapterParts parts)
    : options_(options),
      method_choice_(options.method.resolve(options.method_defaults)),
      recipe_(options.resolve(method_choice_.spec->recipe)),
      parts_(std::move(parts)) {
  const bool has_budget = options_.budget != 1 || options_.budget_iterations;
  if (has_budget && recipe_.iterations == 0 && method_choice_.spec->trains) {
    log_warning(fmt::format(
        "--budget and --budget-iterations have no effect: {} counts epochs unless --iterations is "
        "given",
        method_choice_.spec->name));
  }
  const ScopeTimer timer("loading the network");
  network_ = load_model(parts_.session->files()).network;
  network_->to(parts_.inputs->inference().device);
  parts_.inputs->set_network(network_);
  // Before the first step the network is the source model, and stays it until `adapt`:
  // a method may change it as soon as it is built.
  if (manifest().step > 0) build_method();
}

Adapter::~Adapter() = default;

const state::Manifest& Adapter::manifest() const { return parts_.session->manifest(); }

const methods::StepDecisions* Adapter::decisions() const {
  return method_ && !has_failed_ ? method_->decisions() : nullptr;
}

const adaptation::PrototypeMemory* Adapter::memory() const {
  return method_ ? method_->memory() : nullptr;
}

void Adapter::build_method() {
  if (manifest().step == 0) {
    start_network(network_, options_, *method_choice_.spec, manifest().model,
                  parts_.session->folder());
  }
  method_ = method_choice_.build(network_, static_cast<uint64_t>(options_.seed));
  parts_.session->load_method(*method_);
}

StepOutcome Adapter::adapt(std::shared_ptr<const data::ImageSource> target, SameImages same_images,
                           Unfinished unfinished) {
  const Stopwatch watch;
  if (has_failed_) throw Error("this Adapter's last step failed; make a new one");
  if (target->listing().size() == 0) {
    throw InputError(fmt::format("{}: holds no image", target->listing().origin));
  }
  if (!method_) build_method();
  auto& session = *parts_.session;
  auto& inputs = *parts_.inputs;
  inputs.set_target(target);
  const auto identity = identify();
  identity_ = {identity.text(), crc32_digits(identity.text())};
  const std::vector<int64_t> digits(identity_.digest.begin(), identity_.digest.end());
  distributed::check_agreement(options_.compute.ranks.get(), "images or options",
                               {{"identity", torch::tensor(digits, torch::kInt64)}});
  StepOutcome outcome{.step = manifest().step + 1, .num_images = inputs.target().size()};
  const bool is_done = this->is_done(identity, same_images);
  if (same_images == SameImages::kRequire && !is_done) refuse_further_step(identity);
  if (is_done) {
    outcome.step = manifest().step;
    outcome.already_done = true;
    return outcome;
  }
  if (same_images == SameImages::kSkip && !manifest().adapting) refuse_same_images(identity);
  check_unfinished(identity, unfinished);
  has_failed_ = true;  // Until the step is done: a failure leaves a half-trained network.
  outcome.seconds = watch.seconds();
  if (method_->trains()) train(outcome);
  session.finish_step(*method_, network_, inputs.target(), identity_, outcome, step_features());
  outcome.seconds = watch.seconds();
  has_failed_ = false;
  return outcome;
}

RunIdentity Adapter::identify() const {
  const ScopeTimer timer("describing the images");
  const auto& inputs = *parts_.inputs;
  const bool uses_source = method_->trains() && method_->uses_source(manifest().step);
  return identify_step(
      {options_, method_choice_, recipe_, method_->trains(), inputs.inference().device,
       uses_source ? inputs.kept_source() : std::string()},
      parts_.inputs->target());
}

// Whether the state's step of that digest, described in `file`, is the one of `identity`.
bool Adapter::is_of(const RunIdentity& identity, const std::string& digest, const char* file) {
  if (digest == identity_.digest) return true;
  const auto& state = parts_.session->files();
  return state.has(file) && saved_identity(identity, file) == identity;
}

// Whether there is nothing to do, as the last step was on the same images.
bool Adapter::is_done(const RunIdentity& identity, SameImages same_images) {
  if (same_images == SameImages::kAdaptAgain || manifest().adapting) return false;
  if (is_of(identity, manifest().step_digest, state::kAdaptFile)) return true;
  // The folder may have gone since then, so that kept images would be used now.
  const bool kept_stand_in = options_.source_images == SourceImages::kAuto &&
                             identity.find(RunIdentity::kNote, kSourceNote) != nullptr;
  if (kept_stand_in && parts_.session->files().has(state::kAdaptFile) &&
      without_source(saved_identity(identity, state::kAdaptFile)) == without_source(identity)) {
    return true;
  }
  return same_images == SameImages::kSkipAnyOptions &&
         parts_.session->files().has(state::kAdaptFile) &&
         have_same_images(saved_identity(identity, state::kAdaptFile), identity);
}

void Adapter::refuse_further_step(const RunIdentity& identity) {
  refuse_other_identity(parts_.session->folder().string(),
                        fmt::format("step {} is done", manifest().step),
                        saved_identity(identity, state::kAdaptFile), identity, "use a new folder");
}

RunIdentity Adapter::saved_identity(const RunIdentity& mine, const char* file) {
  return upgraded(RunIdentity::parse(parts_.session->files().read_text(file)), mine,
                  parts_.inputs->target());
}

// With other options neither is right: doing nothing would ignore them, and another step would
// count the same images twice.
void Adapter::refuse_same_images(const RunIdentity& identity) {
  if (!parts_.session->files().has(state::kAdaptFile)) return;
  const auto theirs = saved_identity(identity, state::kAdaptFile);
  const auto* images = theirs.find(RunIdentity::kNote, kImagesNote);
  if (images == nullptr || *images != *identity.find(RunIdentity::kNote, kImagesNote)) return;
  refuse_other_identity(parts_.session->folder().string(),
                        fmt::format("step {} was on the same images", manifest().step), theirs,
                        identity, "--again adapts to them once more");
}

void Adapter::check_unfinished(const RunIdentity& identity, Unfinished unfinished) {
  if (!manifest().adapting ||
      is_of(identity, manifest().adapting->digest, state::kTrainingAdaptFile)) {
    return;
  }
  auto& session = *parts_.session;
  if (unfinished == Unfinished::kRefuse) {
    refuse_other_identity(session.folder().string(),
                          fmt::format("step {} is under way", manifest().step + 1),
                          saved_identity(identity, state::kTrainingAdaptFile), identity,
                          "give the same command to go on, or --discard-unfinished to forget it");
  }
  session.discard_checkpoint();
}

void Adapter::train(StepOutcome& outcome) {
  const Stopwatch watch;
  auto& inputs = *parts_.inputs;
  auto& session = *parts_.session;
  const auto target = inputs.target_for_training();
  const auto source = method_->uses_source(manifest().step) ? inputs.source_for_training()
                                                            : training::TrainingImages{};
  auto context = inputs.context();
  context.step = manifest().step;
  context.seed = static_cast<uint64_t>(options_.seed);
  training::StepTrainer trainer({.network = network_,
                                 .method = method_.get(),
                                 .source = source,
                                 .target = target,
                                 .preprocessing = manifest().model.preprocessing,
                                 .recipe = recipe_,
                                 .num_iterations = options_.resolve_iterations(recipe_),
                                 .context = std::move(context),
                                 .on_doubt = options_.resolve_on_doubt(*method_choice_.spec),
                                 .device = inputs.inference().device,
                                 .compute = options_.compute,
                                 .images = inputs.device_images().get()},
                                iteration_);
  if (manifest().adapting) session.load_checkpoint(trainer, *method_);
  if (parts_.warm_up) parts_.warm_up->wait();
  Stopwatch since_saving;
  try {
    trainer.run(session.events(), [&] {
      if (trainer.is_done()) return;  // The whole step is saved next.
      throw_if_interrupted("stopped");
      if (since_saving.seconds() < static_cast<double>(options_.checkpoint_every)) return;
      session.save_checkpoint(trainer, *method_, identity_);
      since_saving.restart();
    });
  } catch (const Interrupted&) {
    if (!trainer.has_begun()) throw;  // Nothing to save yet.
    session.save_checkpoint(trainer, *method_, identity_);
    throw Interrupted("stopped and saved; the same command goes on from here");
  }
  check_agreement();
  trainer.check_finite();
  outcome.losses = trainer.losses();
  outcome.health = trainer.health();
  outcome.trained = trainer.was_accepted();
  if (const auto* decisions = method_->decisions()) {
    outcome.detected = decisions->shared_classes.classes;
  }
  outcome.seconds = watch.seconds();
}

// All ranks must have come to the same. What is compared is copied first.
void Adapter::check_agreement() {
  auto* const ranks = options_.compute.ranks.get();
  if (ranks == nullptr) return;
  distributed::check_agreement(ranks, "network", network_->state());
  distributed::check_agreement(ranks, "method's state", method_->save());
  if (auto* memory = method_->memory()) {
    distributed::check_agreement(ranks, "memory", memory->save());
  }
}

state::FeatureSets Adapter::step_features() {
  auto& inputs = *parts_.inputs;
  if (!parts_.session->options().record_features) return {};
  state::FeatureSets sets;
  try {
    sets = reference_points(*this, inputs);
    sets.target = target_points(inputs.target(), method_->decisions(), network_,
                                manifest().model.preprocessing, inputs.inference());
  } catch (const c10::Error& error) {
    // Nothing depends on it: no reason to lose a step.
    log_warning(
        fmt::format("{} is left out: {}", state::kFeaturesFile, error.what_without_backtrace()));
  }
  return sets;
}

}  // namespace proca::engine
