#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "engine/source/source_location.h"
#include "proca/compute/device.h"
#include "proca/data/image_store.h"
#include "proca/engine/adapter.h"
#include "proca/methods/method.h"
#include "proca/models/classifier_network.h"
#include "proca/state/feature_record.h"
#include "proca/state/state_directory.h"
#include "state/event_log.h"
#include "state/state_files.h"
#include "state/state_saver.h"
#include "state/state_writer.h"
#include "state/tensorboard_log.h"

namespace proca::training {
class StepTrainer;
}

namespace proca::engine {

/// How a session writes.
struct SessionOptions {
  /// Finished steps are written on another thread while the next one begins: `finish_step`
  /// returns before the step is in the state, `settle` after. A kill in between loses that
  /// step, and the same command does it again.
  bool in_background = false;
  /// Whether a step records the features of its images. Callers who evaluate the network on
  /// these images anyway write that file themselves.
  bool record_features = true;
  /// How many earlier steps the state keeps to be taken back.
  int64_t keep_steps = 0;
};

/// A state directory that is being adapted: everything that a step writes goes through here.
/// Holds the state's lock.
class StateSession {
 public:
  /// Throws `InputError` when the state is missing, damaged, in source training, in use, or
  /// has been adapted with another method.
  StateSession(const AdaptOptions& options, const std::filesystem::path& folder,
               SessionOptions session = {});

  const std::filesystem::path& folder() const { return folder_; }
  const state::Manifest& manifest() const { return manifest_; }
  const SessionOptions& options() const { return session_; }
  /// The files of the last commit. Waits until it is done.
  const state::StateDirectory& files();
  /// The content of a file in `steps/NN`, or nothing if the step has no such file.
  std::optional<std::string> step_file(int64_t step, const std::string& name);

  /// `events.jsonl`. The first call opens it and writes the event `start`.
  state::EventLog& events();
  /// Writes a file of tensors with the next commit.
  void put_tensors(const std::string& file, const models::NamedTensors& tensors,
                   const std::map<std::string, std::string>& metadata);
  /// Writes a change together with the manifest and all events so far.
  void commit(state::StateChange change);
  /// Waits until everything is in the state. Throws what kept it out.
  void settle() { saver_->wait(); }

  /// The source images are there from the next commit on.
  void relocate_source(const SourceLocation& location) {
    record_source(manifest_, location, folder_);
  }

  /// Gives a method its state after the last finished step.
  void load_method(methods::Method& method);
  /// Continues the step that was interrupted; `manifest().adapting` is set.
  void load_checkpoint(training::StepTrainer& trainer, methods::Method& method);
  void save_checkpoint(const training::StepTrainer& trainer, methods::Method& method,
                       const StepIdentity& identity);
  /// Deletes the checkpoint of an unfinished step.
  void discard_checkpoint();
  /// Writes the model, the method's state and the records of a finished step, and the event
  /// `step`. `features.safetensors` is left out without target images in `features`.
  void finish_step(methods::Method& method, const models::ClassifierNetwork& network,
                   const data::ImageStore& target, const StepIdentity& identity,
                   const StepOutcome& outcome, state::FeatureSets features);

 private:
  void check(const state::Manifest& manifest) const;
  void describe_events();
  void write_step_event(const StepOutcome& outcome);
  void add_records(state::StateChange& change, methods::Method& method,
                   const data::ImageStore& target, const StepOutcome& outcome);
  void add_method(state::StateChange& change, methods::Method& method);

  std::filesystem::path folder_;
  SessionOptions session_;
  std::string method_;  // its name
  std::string tensorboard_folder_;
  compute::ComputeOptions compute_;
  std::unique_ptr<state::StateWriter> writer_;
  std::unique_ptr<state::StateSaver> saver_;  // ends before the writer
  state::Manifest manifest_;
  std::optional<state::TensorBoardLog> tensorboard_;
  std::optional<state::EventLog> events_;
  // Revisions of the prototype memory in the last checkpoint and in the last finished step.
  int64_t checkpoint_revision_ = 0;
  int64_t finished_revision_ = 0;
};

}  // namespace proca::engine
