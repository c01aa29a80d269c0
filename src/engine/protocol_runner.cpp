#include "proca/engine/protocol_runner.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/types.h>

#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/lock_file.h"
#include "proca/core/log.h"
#include "proca/core/seal.h"
#include "proca/data/subset.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"
#include "proca/protocol/metrics_json.h"
#include "run_config.h"
#include "state_files.h"

namespace proca::engine {
namespace {

namespace fs = std::filesystem;
constexpr const char* kMetricsFile = "metrics.json";
constexpr const char* kRunConfigFile = "run.toml";

// The labelled target images of all steps, decoded once, and which belong to which step.
struct TargetImages {
  std::shared_ptr<const data::ImageSource> source;
  std::shared_ptr<const data::ImageStore> store;
  std::shared_ptr<const data::ImageStore> training;  // at the size of training, if it is another
  std::vector<std::vector<int64_t>> steps;           // indexes in the store
};

class ProtocolRun {
 public:
  ProtocolRun(const RunOptions& options, const protocol::Preset& preset, fs::path out)
      : options_(options), out_(std::move(out)) {
    begin_warm_up(options.adapt.compute);  // while lists are read, images decoded
    const auto paths =
        protocol::find_task(preset, options.data_root, options.source, options.target);
    if (options_.adapt.load.root.empty()) options_.adapt.load.root = options.data_root;
    options_.pretrain.source = paths.source.string();
    options_.pretrain.load = options_.adapt.load;
    take_start_weights();
    const auto source = data::open_images(
        paths.source, {.labels = data::Labels::kRequired, .root = options_.adapt.load.root});
    class_names_ = source->listing().class_names;
    source_description_ = describe_images(source->listing());
    schedule_ = protocol::make_schedule(preset, options.source, options.target, source->listing(),
                                        options.classes_per_step);
    target_source_ = data::open_images(paths.target, {.labels = data::Labels::kRequired,
                                                      .root = options_.adapt.load.root,
                                                      .known_classes = class_names_});
    check_target();
    check_config();
  }

  SeedResult run(int64_t seed) {
    const auto folder = out_ / fmt::format("seed-{}", seed);
    auto purpose = Purpose::kSteps;
    {
      const auto source_state = open_ready(prepare_source(seed));
      check_source_state(source_state);
      write_config();
      const auto manifest = StateDirectory::exists(folder) ? StateDirectory::read_manifest(folder)
                                                           : source_state.manifest();
      if (manifest.step >= schedule_.num_steps()) purpose = Purpose::kRecords;
      // One decodes, the other writes.
      auto decoding =
          std::async(std::launch::async, [&] { load_target(manifest.model.preprocessing); });
      copy_source_state(source_state, folder);
      decoding.get();
    }
    auto adapt = options_.adapt;
    adapt.seed = seed;
    adapt.tensorboard = tensorboard_folder(folder.filename());
    // What the target images of all steps left of the memory.
    adapt.load.cache_ram =
        std::max<int64_t>(0, adapt.load.cache_ram - target_.store->cached_bytes());
    // Images of all seeds are kept in the same place: the target's go there once.
    Adapter adapter(adapt, folder, images_, purpose);
    adapter.save_in_background();
    adapter.leave_features_to_caller();
    images_ = adapter.images();
    if (purpose == Purpose::kSteps) adapter.prepare_step();
    SeedResult result{.seed = seed};
    std::vector<protocol::StepRecord> records;
    const auto source_record = record_of(adapter, 0, records);
    source_classes_ = source_record.classes;
    for (int64_t step = 1; step <= schedule_.num_steps(); ++step) {
      if (adapter.manifest().step < step) {
        log_info(fmt::format("seed {}, step {} of {}: {} images", seed, step, schedule_.num_steps(),
                             target_.steps[static_cast<size_t>(step - 1)].size()));
        give_training_images(adapter, step);
        result.seconds +=
            adapter.adapt(images_of_step(step, target_.store), SameImages::kAdaptAgain).seconds;
        records.push_back(measure(adapter, step, records));
      } else {
        records.push_back(record_of(adapter, step, records));
      }
    }
    adapter.settle();  // Before anything is reported.
    result.metrics = protocol::summarise(schedule_, source_record.classes, records);
    return result;
  }

 private:
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
  void check_source_state(const StateDirectory& state) const {
    if (state.manifest().model.class_names == class_names_ &&
        state.read_text("config.toml").ends_with(source_description_)) {
      return;
    }
    throw InputError(fmt::format("{}: was not trained on the images of {}, {}",
                                 state.folder().string(), options_.source,
                                 options_.pretrain.source));
  }

  // Every step needs an image; of classes that have none in the target only a warning tells.
  void check_target() const {
    const auto counts = target_source_->listing().count_per_class();
    for (size_t step = 0; step < schedule_.steps.size(); ++step) {
      int64_t images = 0;
      for (const int64_t label : schedule_.steps[step]) {
        const int64_t count = counts[static_cast<size_t>(label)];
        images += count;
        if (count == 0) {
          log_warning(fmt::format("{}: has no image of class {}, which should arrive at step {}",
                                  target_source_->listing().origin,
                                  class_names_[static_cast<size_t>(label)], step + 1));
        }
      }
      if (images == 0) {
        throw InputError(fmt::format("{}: has no image of the classes of step {}",
                                     target_source_->listing().origin, step + 1));
      }
    }
  }

  std::string config_text() {
    OptionSet set;
    auto options = options_;
    options.bind(set);
    auto text = deciding_options(set);
    const auto method = options_.adapt.method.resolve(options_.adapt.method_defaults);
    text = text.substr(0, text.find("\n[method]")) + "\n[method]\n" + method.toml;
    for (size_t step = 0; step < schedule_.steps.size(); ++step) {
      text +=
          fmt::format("# step {}: classes {}\n", step + 1, fmt::join(schedule_.steps[step], ", "));
    }
    return text + describe_images(target_source_->listing());
  }

  void check_config() {
    config_ = config_text();
    std::error_code ignored;
    if (!fs::exists(out_ / kRunConfigFile, ignored)) return;
    const auto theirs = read_text_file(out_ / kRunConfigFile);
    refuse_broken_seal(check_toml_seal(theirs), (out_ / kRunConfigFile).string());
    if (theirs != config_ && theirs != seal_toml(config_)) {
      refuse_other_options((out_ / kRunConfigFile).string(), "holds a run", theirs, config_,
                           "use another --out");
    }
  }

  // Once a source model is there: a command that failed before has fixed nothing yet.
  void write_config() {
    create_writable_folder(out_);
    std::error_code ignored;
    if (!fs::exists(out_ / kRunConfigFile, ignored)) {
      write_file(out_ / kRunConfigFile, seal_toml(config_));
    }
  }

  fs::path prepare_source(int64_t seed) {
    if (!options_.source_state.empty()) {
      return with_meaning(options_.source_state, "{seed}", std::to_string(seed));
    }
    auto training = options_.pretrain;
    training.seed = seed;
    training.checkpoint_every = options_.adapt.checkpoint_every;
    const auto folder = out_ / fmt::format("source-{}", seed);
    training.tensorboard = tensorboard_folder(folder.filename());
    train_source(training, folder);
    return folder;
  }

  void load_target(const data::Preprocessing& preprocessing) {
    if (target_.store) return;
    const auto seen = schedule_.all();
    const std::set<int64_t> wanted(seen.begin(), seen.end());
    std::vector<int64_t> indexes;
    const auto& samples = target_source_->listing().samples;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (wanted.contains(samples[i].label)) indexes.push_back(static_cast<int64_t>(i));
    }
    target_.source = data::subset(target_source_, indexes);
    target_.store = std::make_shared<data::ImageStore>(
        options_.adapt.load.make_store(target_.source, preprocessing.resolved_resize(),
                                       options_.adapt.compute.resolved_threads()));
    for (const auto& classes : schedule_.steps) {
      auto& step = target_.steps.emplace_back();
      for (int64_t i = 0; i < target_.store->size(); ++i) {
        const auto label = target_.store->sample(i).label;
        if (std::find(classes.begin(), classes.end(), label) != classes.end()) step.push_back(i);
      }
    }
  }

  // What adaptation gets to see: the images without their labels.
  std::shared_ptr<const data::ImageSource> images_of_step(
      int64_t step, const std::shared_ptr<const data::ImageStore>& store) const {
    const auto& indexes = target_.steps[static_cast<size_t>(step - 1)];
    return data::without_labels(data::subset(data::stored_images(store), indexes));
  }

  // Decoded once for all steps and seeds, as those for evaluation are.
  void give_training_images(Adapter& adapter, int64_t step) {
    const auto size = adapter.training_resize();
    if (!size) return;
    if (!target_.training) {
      auto load = options_.adapt.load;  // What the images of evaluation left of the memory.
      load.cache_ram = std::max<int64_t>(0, load.cache_ram - target_.store->cached_bytes());
      target_.training = std::make_shared<data::ImageStore>(
          load.make_store(target_.source, *size, options_.adapt.compute.resolved_threads()));
    }
    adapter.set_training_images(images_of_step(step, target_.training));
  }

  // Runs beside each other in one folder have names of their own.
  std::string tensorboard_folder(const fs::path& part) const {
    const fs::path folder = options_.adapt.tensorboard;
    if (folder.empty()) return {};
    const auto place = (fs::absolute(out_) / "").lexically_normal();  // Ends in a slash.
    return (folder / place.parent_path().filename() / part).string();
  }

  // What is known of a finished step (0: of the source model), measured unless it is there.
  // `before` has what is known of those before it, from step 1 on.
  protocol::StepRecord record_of(Adapter& adapter, int64_t step,
                                 const std::vector<protocol::StepRecord>& before) {
    if (const auto text = adapter.step_file(step, kMetricsFile)) {
      return protocol::step_record_from_json(
          *text, fmt::format("{}: {} of step {}", out_.string(), kMetricsFile, step));
    }
    return measure(adapter, step, before);
  }

  protocol::StepRecord measure(Adapter& adapter, int64_t step,
                               const std::vector<protocol::StepRecord>& before) {
    protocol::StepRecord record;
    const auto shown = shown_images(step);
    const auto prototypes = images_of(adapter.shown_prototypes());
    std::set<int64_t> both(shown.begin(), shown.end());
    both.insert(prototypes.begin(), prototypes.end());
    const std::vector<int64_t> looked_at(both.begin(), both.end());
    const auto evaluation = evaluate_with_features(
        adapter.network(), *target_.store, adapter.manifest().model.preprocessing,
        {.device = adapter.device(),
         .batch_size = inference_batch_size(adapter.device()),
         .precision = options_.adapt.compute.precision,
         .images = images_.get(),
         .threads = options_.adapt.compute.resolved_threads(),
         .ranks = options_.adapt.compute.ranks.get()},
        looked_at);
    record.classes = evaluation.report.classes;
    record.confusion = evaluation.report.confusion;
    // A class without images was not met by the evaluator, but the schedule has it.
    for (const int64_t label : schedule_.all()) {
      const auto known = std::any_of(record.classes.begin(), record.classes.end(),
                                     [&](const auto& entry) { return entry.label == label; });
      if (!known) record.classes.push_back({.label = label, .num_images = 0, .num_correct = 0});
    }
    std::sort(record.classes.begin(), record.classes.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
    const auto* decisions = step > 0 ? adapter.decisions() : nullptr;
    if (decisions != nullptr) judge(*decisions, step, record);
    auto features = adapter.reference_features(looks_at(evaluation, looked_at, prototypes));
    features.target = looks_at(evaluation, looked_at, shown);
    label_target(features.target, shown, decisions, step);
    label_prototypes(features.prototypes);
    StepFiles files;
    files.texts[kMetricsFile] = protocol::to_json(record, class_names_);
    // Worked out while the step itself is being written.
    files.tensors[kFeaturesFile] =
        [record = std::async(std::launch::async, [features = std::move(features)] {
                    return make_feature_record(features).save();
                  }).share()] { return record.get(); };
    if (step > 0) write_evaluation(adapter, step, before, record);
    adapter.put_step_files(step, std::move(files));
    return record;
  }

  void write_evaluation(Adapter& adapter, int64_t step, std::vector<protocol::StepRecord> records,
                        const protocol::StepRecord& record) const {
    records.push_back(record);
    const auto metrics = protocol::summarise(schedule_, source_classes_, records).steps.back();
    std::vector<EventField> fields = {{"step", step}};
    const auto add = [&](const std::string& name, double share) {
      if (!std::isnan(share)) fields.emplace_back(name, share * 100);
    };
    add("accuracy_percent", metrics.accuracy);
    add("s1_accuracy_percent", metrics.s1_accuracy);
    add("accuracy_drop_percent", metrics.accuracy_drop);
    if (metrics.pseudo_labels) {
      add("pseudo_label_accuracy_percent", metrics.pseudo_labels->accuracy());
    }
    adapter.write_event("evaluation", fields);
  }

  // Of the classes seen so far; of all, as long as there are none.
  std::vector<int64_t> shown_images(int64_t step) const {
    std::vector<int64_t> seen;
    const auto end = step == 0 ? target_.steps.end() : target_.steps.begin() + step;
    for (auto images = target_.steps.begin(); images != end; ++images) {
      seen.insert(seen.end(), images->begin(), images->end());
    }
    std::sort(seen.begin(), seen.end());
    std::vector<int64_t> shown;
    const auto count = static_cast<int64_t>(seen.size());
    for (const int64_t i : evenly_spread(count, FeatureRecord::kMostTarget)) {
      shown.push_back(seen[static_cast<size_t>(i)]);
    }
    return shown;
  }

  // Those of the target images that are called so.
  std::vector<int64_t> images_of(const std::vector<std::string>& names) {
    if (index_of_path_.empty()) {
      for (int64_t i = 0; i < target_.store->size(); ++i) {
        index_of_path_[target_.store->sample(i).path] = i;
      }
    }
    std::vector<int64_t> images;
    for (const auto& name : names) {
      const auto found = index_of_path_.find(name);
      if (found != index_of_path_.end()) images.push_back(found->second);
    }
    return images;
  }

  // What an evaluation that looked at the features of some images, in order, says of `images`.
  FeaturePoints looks_at(const Evaluation& evaluation, const std::vector<int64_t>& looked_at,
                         const std::vector<int64_t>& images) const {
    FeaturePoints points;
    std::vector<int64_t> rows;
    for (const int64_t i : images) {
      rows.push_back(std::lower_bound(looked_at.begin(), looked_at.end(), i) - looked_at.begin());
      points.predicted.push_back(evaluation.predictions[static_cast<size_t>(i)]);
      points.names.push_back(target_.store->sample(i).path);
    }
    points.features = evaluation.features.index_select(0, torch::tensor(rows, torch::kInt64));
    return points;
  }

  void label_target(FeaturePoints& points, const std::vector<int64_t>& shown,
                    const methods::StepDecisions* decisions, int64_t step) const {
    std::map<int64_t, int64_t> pseudo_labels;  // of this step's images; others had theirs
    if (decisions != nullptr) {
      const auto* labels = decisions->pseudo_labels.labels.data_ptr<int64_t>();
      for (const int64_t i : target_.steps[static_cast<size_t>(step - 1)]) {
        pseudo_labels[i] = *labels++;
      }
    }
    for (const int64_t i : shown) {
      const auto pseudo_label = pseudo_labels.find(i);
      points.labels.push_back(target_.store->sample(i).label);
      points.pseudo_labels.push_back(pseudo_label == pseudo_labels.end() ? -1
                                                                         : pseudo_label->second);
    }
  }

  // Adaptation does not know of which class a prototype really is.
  void label_prototypes(FeaturePoints& prototypes) {
    for (const auto& name : prototypes.names) {
      const auto image = images_of({name});
      prototypes.labels.push_back(image.empty() ? -1 : target_.store->sample(image[0]).label);
    }
  }

  void judge(const methods::StepDecisions& decisions, int64_t step,
             protocol::StepRecord& record) const {
    record.detection = protocol::measure_detection(decisions.shared_classes.classes,
                                                   schedule_.steps[static_cast<size_t>(step - 1)]);
    const auto& indexes = target_.steps[static_cast<size_t>(step - 1)];
    const auto* labels = decisions.pseudo_labels.labels.data_ptr<int64_t>();
    protocol::Tally tally{.num_images = static_cast<int64_t>(indexes.size())};
    for (size_t i = 0; i < indexes.size(); ++i) {
      if (labels[i] == target_.store->sample(indexes[i]).label) ++tally.num_correct;
    }
    record.pseudo_labels = tally;
  }

  RunOptions options_;
  fs::path out_;
  std::string config_;
  std::vector<std::string> class_names_;
  std::vector<protocol::ClassAccuracy> source_classes_;  // by the source model
  std::string source_description_;
  protocol::ClassSchedule schedule_;
  std::shared_ptr<data::ImageSource> target_source_;
  TargetImages target_;
  std::unordered_map<std::string, int64_t> index_of_path_;
  std::shared_ptr<DeviceImages> images_;  // made by the first adapter
};

}  // namespace

std::vector<SeedResult> run_protocol(const RunOptions& options, const protocol::Preset& preset,
                                     const fs::path& out) {
  // Reading lists and images takes a while: whoever is not wanted learns it before.
  for (const int64_t seed : options.seeds) {
    refuse_if_locked(out / fmt::format("source-{}", seed) / "lock");
    refuse_if_locked(out / fmt::format("seed-{}", seed) / "lock");
  }
  ProtocolRun run(options, preset, out);
  std::vector<SeedResult> results;
  for (const int64_t seed : options.seeds) results.push_back(run.run(seed));
  return results;
}

}  // namespace proca::engine
