#include "proca/engine/source_trainer.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <torch/nn/functional/loss.h>
#include <torch/types.h>

#include "core/counted.h"
#include "core/files/lock_file.h"
#include "core/files/path.h"
#include "core/files/text_checksum.h"
#include "core/progress.h"
#include "core/stopwatch.h"
#include "distributed/agreement.h"
#include "distributed/launch.h"
#include "engine/run_identity.h"
#include "engine/source/training_record.h"
#include "engine/source_setup.h"
#include "models/weights/finite_check.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"
#include "proca/models/named_tensors.h"
#include "state/event_log.h"
#include "state/start_event.h"
#include "state/state_files.h"
#include "state/state_saver.h"
#include "state/state_writer.h"
#include "state/tensorboard_log.h"
#include "training/feeds/device_images.h"
#include "training/training_iteration.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
namespace F = torch::nn::functional;
constexpr const char* kLossOfImages = "loss of images";

RunIdentity identify_training(SourceTrainingOptions options, const data::ImageListing& source) {
  OptionSet set;
  options.bind(set);
  RunIdentity identity;
  identity.add(set);
  identity.add_note(kImagesNote, describe_images(source));
  return identity;
}

// A kill right after the last checkpoint leaves files with the names of staged ones, and the
// optimiser's. Our own readers know them; others look for `model.safetensors`.
void finish_last_checkpoint(const fs::path& folder) {
  const state::StateDirectory state(folder, [](const std::string&) { return false; });
  for (const auto& entry : entries_of(folder)) {
    const auto name = entry.filename().string();
    const bool is_left = name == state::kOptimizerFile && !state.has(name);
    if (!is_left && !state::is_leftover(name)) continue;
    const state::StateWriter finishes_it(folder);
    return;
  }
}

struct EpochCost {
  Stopwatch watch;
  int64_t images = 0;
  double data_s = 0;  // how long the host waited for images
};

class SourceTrainer {
 public:
  // Everything about the input is checked before anything is written.
  SourceTrainer(const SourceTrainingOptions& options, const fs::path& out)
      : options_(options),
        recipe_(options.resolved_recipe()),
        device_(compute::choose_device(options.compute)),
        out_(normalise_path(out)),
        images_(options_) {
    images_.describe(manifest_, out_);
    options_.keep.fitting(images_.listing().count_per_class(), options_.resolved_resize());
    identity_ = identify_training(options_, images_.listing());
  }

  SourceTrainingResult run() {
    if (is_trained()) {
      finish_last_checkpoint(out_);
      return {recipe_.epochs, std::nullopt};
    }
    build_network_and_optimizer();
    state::StateWriter writer(out_);
    // Once more: until the lock was ours, another process may have gone on with it.
    if (is_trained()) return {recipe_.epochs, std::nullopt};
    const auto config = complete_identity().text();
    manifest_.config_digest = crc32_digits(config);
    if (state::StateDirectory::exists(out_)) resume(state::StateDirectory(out_));
    device_images_ = training::make_device_images(options_.load.cache_gpu, options_.compute);
    if (distributed::is_first(options_.compute)) {
      announce_training(options_, images_.training().size());
    }
    writer.put_text(state::kConfigFile, config);
    if (!script_.empty()) writer.put_text(state::kScriptFile, script_);
    return train(writer);
  }

 private:
  // Whether the state holds this very training, finished. Another training is refused.
  bool is_trained() {
    if (!state::StateDirectory::exists(out_)) return false;
    const state::StateDirectory state(out_);
    const auto theirs = RunIdentity::parse(state.read_text(state::kConfigFile));
    auto known = theirs;  // without decoding; early versions had no more
    std::erase_if(known.fields, [](const auto& field) { return field.name == kPixelsNote; });
    check_same(known, identity_);
    const bool ready = state.manifest().phase == state::Phase::kReady;
    // Decoding all images only to find that nothing is to do can take minutes.
    const auto& files = state.manifest().source_files;
    const bool same_files = ready && !files.empty() && files == manifest_.source_files;
    if (known != theirs && !same_files) check_same(theirs, complete_identity());
    if (!ready) return false;
    log_info(fmt::format("{}: is trained already, {}", out_.string(),
                         counted(state.manifest().epoch, "epoch")));
    return true;
  }

  void check_same(const RunIdentity& theirs, const RunIdentity& mine) const {
    SourceTrainingOptions defaults;
    OptionSet known;
    defaults.bind(known);
    if (with_absolute_paths(theirs, known) == with_absolute_paths(mine, known)) return;
    refuse_other_identity(out_.string(), "holds a training", theirs, mine,
                          "use the same or another --out");
  }

  // Loads the images, if that is still to do, and adds their pixels.
  RunIdentity complete_identity() {
    images_.load(manifest_.model.preprocessing);
    if (pixels_.empty()) {
      pixels_ = hash_training_images(images_, options_.compute.resolved_threads());
    }
    auto identity = identity_;
    identity.add_note(kPixelsNote, pixels_);
    return identity;
  }

  void build_network_and_optimizer() {
    network_ = build_source_network(options_, manifest_.model, script_);
    network_->to(device_);
    training::Sgd sgd({{network_->backbone_parameters(), recipe_.lr, options_.weight_decay},
                       {network_->head_parameters(), recipe_.head_lr, options_.weight_decay}},
                      options_.momentum);
    iteration_.emplace(
        training::Optimizers{std::move(sgd), {}},
        [this](const auto& batch, const std::string&) { return losses_of(batch); },
        options_.compute, device_,
        training::cuda_graph_capturer_for(options_.compute, device_, /*supports_cuda_graph=*/true,
                                          "source training"));
    training::share_training(*iteration_, network_, options_.compute);
  }

  void resume(const state::StateDirectory& state) {
    models::load_weights(network_, state.read_tensors(state::kModelFile),
                         models::HeadPolicy::kMustMatch);
    iteration_->optimizers().load_state(state.read_tensors(state::kOptimizerFile).tensors);
    manifest_.epoch = state.manifest().epoch;
    manifest_.events_bytes = state.manifest().events_bytes;
    manifest_.events_crc = state.manifest().events_crc;
    log_info(fmt::format("{}: goes on after epoch {}", out_.string(), manifest_.epoch));
  }

  SourceTrainingResult train(state::StateWriter& writer) {
    state::EventLog events(out_ / state::kEventsFile, manifest_.events_bytes, manifest_.events_crc);
    std::optional<state::TensorBoardLog> tensorboard;
    if (!options_.tensorboard.empty()) {
      tensorboard.emplace(options_.tensorboard, manifest_.epoch);
      events.observe(
          [&](const auto& event, const auto& fields) { tensorboard->add(event, fields); });
    }
    state::write_start_event(events, options_.compute, device_);
    state::StateSaver saver(writer);
    SourceTrainingResult result;
    while (manifest_.epoch < recipe_.epochs) {
      try {
        result.holdout_accuracy = train_epoch(manifest_.epoch, events);
      } catch (const Interrupted&) {
        if (unsaved_) saver.save_now(*unsaved_);
        throw;
      }
      ++manifest_.epoch;
      end_epoch(saver, events);
    }
    if (recipe_.epochs == 0) end_epoch(saver, events);  // The weights are the model.
    result.epochs = manifest_.epoch;
    return result;
  }

  // Writing takes as long as a short epoch on a GPU. Until it is due a copy in memory will do,
  // which is written if the next epoch is interrupted.
  void end_epoch(state::StateSaver& saver, const state::EventLog& events) {
    manifest_.events_bytes = events.size();
    manifest_.events_crc = events.crc();
    distributed::check_agreement(options_.compute.ranks.get(), "network", network_->state());
    auto change = checkpoint();
    const auto every_s = static_cast<double>(options_.checkpoint_every);
    if (manifest_.epoch == recipe_.epochs || since_saving_.seconds() >= every_s) {
      unsaved_.reset();
      saver.save_now(change);
      since_saving_.restart();
    } else {
      change.copy_tensors();
      unsaved_ = std::move(change);
    }
  }

  // The last epoch's model is the source model.
  state::StateChange checkpoint() {
    const auto model = network_->state();
    // The last iteration's loss was computed with the weights before its update.
    if (const auto weight = models::find_not_finite(model)) {
      throw Error(fmt::format(
          "epoch {}: a weight of \"{}\" is no longer a number; start again with a lower --lr and "
          "another --out",
          manifest_.epoch, *weight));
    }
    state::StateChange change{.tensors = {{state::kModelFile, model}}};
    if (manifest_.epoch < recipe_.epochs) {
      change.tensors.emplace_back(state::kOptimizerFile, iteration_->optimizers().state());
    } else {
      manifest_.phase = state::Phase::kReady;
      change.tensors.emplace_back(state::kSourceFile, model);
      change.removed = {state::kOptimizerFile};
    }
    change.manifest = manifest_;
    return change;
  }

  double lr_scale(int64_t iteration, int64_t total) const {
    if (recipe_.schedule == Schedule::kConstant) return 1.0;
    const double progress = static_cast<double>(iteration) / static_cast<double>(total);
    return 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  }

  // What is reported is a mean over images, not over batches.
  std::vector<methods::LossTerm> losses_of(const methods::AdaptationBatch& batch) {
    const auto logits = network_->forward(batch.source_images).logits;
    const auto loss =
        F::cross_entropy(logits, batch.source_labels,
                         F::CrossEntropyFuncOptions().label_smoothing(options_.label_smoothing));
    return {{"loss", loss},
            {kLossOfImages, loss.detach() * static_cast<double>(logits.size(0)), /*weight=*/0}};
  }

  std::unique_ptr<training::BatchFeed> open_feed(data::Batches batches, int64_t epoch) {
    std::vector<int64_t> epochs(batches.size(), epoch);
    return device_images_->feed(images_.training(),
                                {.batches = std::move(batches),
                                 .augmentation = {.image_size = options_.image_size,
                                                  .crop = options_.crop,
                                                  .flip_probability = recipe_.flip},
                                 .seed = static_cast<uint64_t>(options_.seed),
                                 .epochs = std::move(epochs)},
                                manifest_.model.preprocessing);
  }

  // One pass over the images; returns the held-out accuracy if there is a hold-out.
  std::optional<double> train_epoch(int64_t epoch, state::EventLog& events) {
    network_->train();
    EpochCost cost;
    const int64_t num_images = images_.training().size();
    auto batches = data::training_batches(num_images, options_.batch_size,
                                          static_cast<uint64_t>(options_.seed), "source", epoch);
    const auto per_epoch = static_cast<int64_t>(batches.size());
    const auto feed = open_feed(std::move(batches), epoch);
    Progress progress(fmt::format("epoch {}/{}", epoch + 1, recipe_.epochs), num_images, "images");
    progress.set_further((recipe_.epochs - epoch - 1) * num_images);
    for (int64_t i = 0;; ++i) {
      const Stopwatch waiting;
      const auto batch = feed->next();
      if (!batch) break;
      cost.data_s += waiting.seconds();
      throw_if_interrupted("stopped; the same command goes on after the last finished epoch");
      iteration_->run({.source_images = batch->images, .source_labels = batch->labels},
                      lr_scale(epoch * per_epoch + i, recipe_.epochs * per_epoch));
      cost.images += batch->images.size(0);
      progress.update(cost.images, note_);
    }
    const double loss = iteration_->take_means().at(kLossOfImages) *
                        static_cast<double>(per_epoch) / static_cast<double>(cost.images);
    note_ = fmt::format("loss {:.4f}", loss);
    if (!std::isfinite(loss)) {
      throw Error(fmt::format(
          "the loss is no longer a number in epoch {}; start again with a lower --lr and another "
          "--out",
          epoch + 1));
    }
    return report_epoch(epoch, loss, cost, events);
  }

  std::optional<double> report_epoch(int64_t epoch, double loss, const EpochCost& cost,
                                     state::EventLog& events) {
    const double seconds = cost.watch.seconds();
    const double images_per_s = static_cast<double>(cost.images) / seconds;
    auto line = fmt::format("epoch {}/{}: loss {:.4f}, {:.0f} images/s", epoch + 1, recipe_.epochs,
                            loss, images_per_s);
    std::vector<state::EventField> fields = {{"epoch", epoch + 1},
                                             {"loss", loss},
                                             {"images_per_s", images_per_s},
                                             {"seconds", seconds},
                                             {"data_s", cost.data_s}};
    std::optional<double> accuracy;
    if (const auto* holdout = images_.holdout()) {
      accuracy = evaluate(network_, *holdout, manifest_.model.preprocessing,
                          inference_options(options_.compute, device_images_.get()))
                     .accuracy();
      line += fmt::format(", held-out accuracy {:.2f} %", *accuracy * 100);
      fields.emplace_back("holdout_accuracy_percent", *accuracy * 100);
    }
    log_step(line);
    events.write("epoch", fields);
    return accuracy;
  }

  SourceTrainingOptions options_;
  Recipe recipe_;
  RunIdentity identity_;  // without the pixels
  std::string pixels_;    // hashes; empty until the images are loaded
  torch::Device device_;
  fs::path out_;
  state::Manifest manifest_;
  std::string script_;  // the content of a script backbone's file
  SourceTrainingSet images_;
  std::shared_ptr<training::DeviceImages> device_images_;
  models::ClassifierNetwork network_{nullptr};
  std::optional<training::TrainingIteration> iteration_;
  Stopwatch since_saving_;
  std::optional<state::StateChange> unsaved_;  // the end of the last epoch, if no file has it
  std::string note_;                           // beside the progress bar: the last epoch's loss
};

}  // namespace

SourceTrainingResult train_source(const SourceTrainingOptions& options, const fs::path& out) {
  options.validate();
  refuse_if_locked(normalise_path(out) / state::kLockFile);
  const auto result = SourceTrainer(options, out).run();
  keep_source_images(out, options.keep, options.load, options.compute);
  return result;
}

}  // namespace proca::engine
