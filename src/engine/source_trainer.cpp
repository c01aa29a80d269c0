#include "proca/engine/source_trainer.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <torch/nn/functional/loss.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "core/files/lock_file.h"
#include "core/files/path.h"
#include "core/progress.h"
#include "core/stopwatch.h"
#include "data/source/subset.h"
#include "distributed/agreement.h"
#include "engine/run_config.h"
#include "models/weights/load_weights.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"
#include "proca/models/named_tensors.h"
#include "proca/state/event_log.h"
#include "state/start_event.h"
#include "state/state_files.h"
#include "state/state_writer.h"
#include "state/tensorboard_log.h"
#include "training/feeds/device_images.h"
#include "training/feeds/image_tensors.h"
#include "training/finite_check.h"
#include "training/training_iteration.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
namespace F = torch::nn::functional;
constexpr const char* kLossOfImages = "loss of images";

std::string deciding_options_of(SourceTrainingOptions options) {
  OptionSet set;
  options.bind(set);
  return deciding_options(set);
}

// The manifest is JSON, which is UTF-8.
void check_text(const std::string& text) {
  try {
    static_cast<void>(nlohmann::json(text).dump());
  } catch (const nlohmann::json::exception&) {
    throw InputError(fmt::format("\"{}\": the name is not UTF-8; rename it", text));
  }
}

void check_classes(const data::ImageListing& listing) {
  if (listing.num_classes() < 2) {
    throw InputError(fmt::format("{}: has only one class, \"{}\"; a classifier needs two or more",
                                 listing.origin, listing.class_names.front()));
  }
  const auto counts = listing.count_per_class();
  for (size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) {
      log_warning(fmt::format("{}: class {} has no image", listing.origin, label));
    }
  }
}

// A kill right after the last checkpoint leaves files under the names they had while they were
// written. Readers of ours know them; others look for `model.safetensors`.
void finish_last_checkpoint(const fs::path& folder) {
  for (const auto& entry : entries_of(folder)) {
    if (entry.extension() != ".next") continue;
    const state::StateWriter finishes_it(folder);
    return;
  }
}

class SourceTrainer {
 public:
  SourceTrainer(const SourceTrainingOptions& options, const fs::path& out)
      : options_(options),
        recipe_(options.resolved_recipe()),
        device_(compute::prepare_compute(options.compute)),
        out_(normalise_path(out)) {}

  SourceTrainingResult run() {
    refuse_if_locked(out_ / "lock");
    // Everything about the input is checked before anything is written.
    open_source();
    config_ = deciding_options_of(options_) + describe_images(source_->listing());
    manifest_.config_digest = digest(config_);
    if (is_trained()) {
      finish_last_checkpoint(out_);
      return {recipe_.epochs, std::nullopt};
    }
    build();
    state::StateWriter writer(out_);
    // Once more: until the lock was ours, another process may have gone on with it.
    if (is_trained()) return {recipe_.epochs, std::nullopt};
    if (state::StateDirectory::exists(out_)) resume(state::StateDirectory(out_));
    load_images();
    save_fixed_files(writer);
    state::EventLog events(out_ / "events.jsonl", manifest_.events_bytes, manifest_.events_crc);
    std::optional<state::TensorBoardLog> tensorboard;
    if (!options_.tensorboard.empty()) {
      tensorboard.emplace(options_.tensorboard, manifest_.epoch);
      events.observe(
          [&](const auto& event, const auto& fields) { tensorboard->add(event, fields); });
    }
    state::write_start_event(events, options_.compute, device_);
    SourceTrainingResult result;
    while (manifest_.epoch < recipe_.epochs) {
      try {
        result.holdout_accuracy = train_epoch(manifest_.epoch, events);
      } catch (const Interrupted&) {
        if (unsaved_) save_checkpoint(writer, *unsaved_);
        throw;
      }
      ++manifest_.epoch;
      manifest_.events_bytes = events.size();
      manifest_.events_crc = events.crc();
      end_epoch(writer);
    }
    if (recipe_.epochs == 0) save_checkpoint(writer, state());  // The weights are the model.
    result.epochs = manifest_.epoch;
    return result;
  }

 private:
  // Whether the state holds this very training, finished. Another training is refused.
  bool is_trained() const {
    if (!state::StateDirectory::exists(out_)) return false;
    const state::StateDirectory state(out_);
    if (state.manifest().config_digest != digest(config_)) {
      refuse_other_options(out_.string(), "holds a training", state.read_text(state::kConfigFile),
                           config_, "use the same or another --out");
    }
    if (state.manifest().phase != state::Phase::kReady) return false;
    log_info(
        fmt::format("{}: is trained already, {} epochs", out_.string(), state.manifest().epoch));
    return true;
  }

  void open_source() {
    source_ = data::open_images(fs::path(options_.source),
                                {.labels = data::Labels::kRequired, .root = options_.load.root});
    check_classes(source_->listing());
    check_text(options_.source);
    for (const auto& name : source_->listing().class_names) check_text(name);
    manifest_.source = fs::absolute(normalise_path(options_.source)).lexically_normal().string();
    if (!options_.load.root.empty()) {
      manifest_.source_root = fs::absolute(options_.load.root).lexically_normal().string();
    }
  }

  void build() {
    auto& model = manifest_.model;
    model.backbone = options_.backbone;
    model.class_names = source_->listing().class_names;
    model.preprocessing.image_size = options_.image_size;
    model.stride_in = options_.stride_in.value_or(models::StrideIn::k3x3);
    std::optional<models::WeightFile> weights;
    if (!options_.weights.empty()) {
      weights = models::read_weight_file(options_.weights);
      if (!options_.stride_in) {
        model.stride_in = models::stride_in_of(*weights).value_or(model.stride_in);
      }
    }
    const auto seed = static_cast<uint64_t>(options_.seed);
    network_ = build_network(model, seed, fs::current_path());
    if (weights) {
      const auto report = models::load_weights(network_, *weights);
      if (!report.notice.empty()) log_info(report.notice);
    }
    if (model.backbone.starts_with("script:")) {
      script_ = read_text_file(model.backbone.substr(7));
      model.backbone = std::string("script:") + state::kScriptFile;
    }
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

  void load_images() {
    const auto split = data::stratified_split(source_->listing(), options_.holdout,
                                              static_cast<uint64_t>(options_.seed));
    const auto threads = options_.compute.resolved_threads();
    images_ = std::make_unique<training::DeviceImages>(
        device_, training::image_budget(options_.load.cache_gpu, device_), threads);
    training_.emplace(options_.load.make_store(
        data::subset(source_, split.training),
        {data::ResizeOptions::Mode::kExact, options_.resolved_resize()}, threads));
    if (training_->size() < 2) {
      throw InputError(
          fmt::format("{}: {} image is too few to train on", options_.source, training_->size()));
    }
    if (split.holdout.empty()) {
      if (options_.holdout > 0) {
        log_warning("--holdout: the classes have too few images; none is kept back");
      }
      return;
    }
    auto load = options_.load;  // What the training images left of the memory.
    load.cache_ram = std::max<int64_t>(0, load.cache_ram - training_->cached_bytes());
    holdout_.emplace(load.make_store(data::subset(source_, split.holdout),
                                     manifest_.model.preprocessing.resolved_resize(), threads));
  }

  void save_fixed_files(state::StateWriter& writer) {
    writer.put_text(state::kConfigFile, config_);
    if (!script_.empty()) writer.put_text(state::kScriptFile, script_);
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

  // One pass over the images; returns the held-out accuracy if there is a hold-out.
  std::optional<double> train_epoch(int64_t epoch, state::EventLog& events) {
    const Stopwatch watch;
    network_->train();
    const auto batches =
        data::training_batches(training_->size(), options_.batch_size,
                               static_cast<uint64_t>(options_.seed), "source", epoch);
    const auto per_epoch = static_cast<int64_t>(batches.size());
    const auto feed = images_->feed(*training_,
                                    {.batches = batches,
                                     .augmentation = {.image_size = options_.image_size,
                                                      .crop = options_.crop,
                                                      .flip_probability = recipe_.flip},
                                     .seed = static_cast<uint64_t>(options_.seed),
                                     .epochs = std::vector<int64_t>(batches.size(), epoch)},
                                    manifest_.model.preprocessing);
    Progress progress(fmt::format("epoch {}/{}", epoch + 1, recipe_.epochs), training_->size(),
                      "images");
    int64_t done = 0;
    double data_s = 0;  // How long the host waited for images.
    for (int64_t i = 0;; ++i) {
      const Stopwatch waiting;
      const auto batch = feed->next();
      if (!batch) break;
      data_s += waiting.seconds();
      throw_if_interrupted("stopped; the same command goes on after the last finished epoch");
      iteration_->run({.source_images = batch->images, .source_labels = batch->labels},
                      lr_scale(epoch * per_epoch + i, recipe_.epochs * per_epoch));
      done += batch->images.size(0);
      progress.update(done, note_);
    }
    const double loss = iteration_->take_means().at(kLossOfImages) *
                        static_cast<double>(per_epoch) / static_cast<double>(done);
    note_ = fmt::format("loss {:.4f}", loss);
    if (!std::isfinite(loss)) {
      throw Error(fmt::format(
          "the loss is no longer a number in epoch {}; start again with a lower --lr and another "
          "--out",
          epoch + 1));
    }
    return report_epoch(epoch, loss, {done, watch.seconds(), data_s}, events);
  }

  // What an epoch cost.
  struct EpochCost {
    int64_t images = 0;
    double seconds = 0;
    double data_s = 0;
  };

  std::optional<double> report_epoch(int64_t epoch, double loss, const EpochCost& cost,
                                     state::EventLog& events) {
    const double images_per_s = static_cast<double>(cost.images) / cost.seconds;
    auto line = fmt::format("epoch {}/{}: loss {:.4f}, {:.0f} images/s", epoch + 1, recipe_.epochs,
                            loss, images_per_s);
    std::vector<state::EventField> fields = {{"epoch", epoch + 1},
                                             {"loss", loss},
                                             {"images_per_s", images_per_s},
                                             {"seconds", cost.seconds},
                                             {"data_s", cost.data_s}};
    std::optional<double> accuracy;
    if (holdout_) {
      accuracy = evaluate(network_, *holdout_, manifest_.model.preprocessing,
                          {.device = device_,
                           .batch_size = inference_batch_size(device_),
                           .precision = options_.compute.precision,
                           .images = images_.get(),
                           .threads = options_.compute.resolved_threads(),
                           .ranks = options_.compute.ranks.get()})
                     .accuracy();
      line += fmt::format(", held-out accuracy {:.2f} %", *accuracy * 100);
      fields.emplace_back("holdout_accuracy_percent", *accuracy * 100);
    }
    log_info(line);
    events.write("epoch", fields);
    return accuracy;
  }

  // Everything that is trained: live tensors, or copies of them.
  struct State {
    models::NamedTensors network, optimizer;
  };
  State state() const { return {network_->state(), iteration_->optimizers().state()}; }

  // Writing takes as long as a short epoch on a GPU. Until it is due a copy will do, which
  // is written if the next epoch is cut off.
  void end_epoch(state::StateWriter& writer) {
    distributed::check_agreement(options_.compute.ranks.get(), "network", network_->state());
    const auto every = static_cast<double>(options_.checkpoint_every);
    if (manifest_.epoch == recipe_.epochs || since_saving_.seconds() >= every) {
      unsaved_.reset();
      save_checkpoint(writer, state());
      since_saving_.restart();
      return;
    }
    unsaved_ = state();
    for (auto* part : {&unsaved_->network, &unsaved_->optimizer}) {
      for (auto& [name, tensor] : *part) tensor = tensor.detach().clone();
    }
  }

  void save_checkpoint(state::StateWriter& writer, const State& state) {
    // The last iteration's loss is of the weights before it.
    if (const auto weight = training::find_not_finite(state.network)) {
      throw Error(fmt::format(
          "epoch {}: a weight of \"{}\" is no longer a number; start again with a lower --lr and "
          "another --out",
          manifest_.epoch, *weight));
    }
    writer.put_tensors(state::kModelFile, state.network, {});
    if (manifest_.epoch < recipe_.epochs) {
      writer.put_tensors(state::kOptimizerFile, state.optimizer, {});
    } else {
      manifest_.phase = state::Phase::kReady;
      writer.put_tensors(state::kSourceFile, state.network, {});
      writer.remove(state::kOptimizerFile);
    }
    writer.commit(manifest_);
  }

  SourceTrainingOptions options_;
  Recipe recipe_;
  std::string config_;
  torch::Device device_;
  fs::path out_;
  state::Manifest manifest_;
  std::string script_;  // the file of a script backbone, which the state keeps
  std::shared_ptr<data::ImageSource> source_;
  models::ClassifierNetwork network_{nullptr};
  std::optional<training::TrainingIteration> iteration_;
  Stopwatch since_saving_;
  std::optional<State> unsaved_;  // of the last finished epoch, if no file has it
  std::string note_;              // beside the progress bar: the last epoch's loss
  std::optional<data::ImageStore> training_, holdout_;
  std::unique_ptr<training::DeviceImages> images_;
};

}  // namespace

SourceTrainingResult train_source(const SourceTrainingOptions& options, const fs::path& out) {
  options.validate();
  return SourceTrainer(options, out).run();
}

}  // namespace proca::engine
