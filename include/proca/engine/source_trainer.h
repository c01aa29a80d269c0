#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/augmentation.h"
#include "proca/data/load_options.h"
#include "proca/engine/keep_source.h"
#include "proca/models/backbone.h"
#include "proca/protocol/metrics.h"

namespace proca::engine {

/// How the learning rate runs over the training.
enum class Schedule {
  kConstant,
  kCosine,  ///< from full to zero along half a cosine, iteration by iteration
};

/// The part of the options that depends on where the weights come from.
///
/// | | fine-tuning | from scratch | from scratch, small |
/// |---|---|---|---|
/// | when | `weights`, or a `script:` backbone | a ResNet without `weights` | `resnet-small`
/// without | | epochs | 100 | 100 | 15 | | rate of backbone | 0.001 | 0.1 per 256 images of a batch
/// | 0.05 | | rate of classifier | 0.01 | 0.1 per 256 images of a batch | 0.05 | | schedule |
/// constant | cosine | cosine | | flip | 0.5 | 0.5 | 0 |
///
/// Fine-tuning is the recipe that the authors of ProCA used for Office-Home. From scratch is
/// torchvision's rate for ImageNet, which grows with the batch (Goyal et al., 2017), over a cosine.
/// Small are pictures such as digits and signs: they are not mirrored, since a mirrored 2 is no 2.
struct Recipe {
  int64_t epochs = 100;
  double lr = 1e-3;
  double head_lr = 1e-2;
  Schedule schedule = Schedule::kConstant;
  double flip = 0.5;
};

/// How to train a source model. Fields that are empty follow the recipe.
struct SourceTrainingOptions {
  std::string source;  ///< labelled images: folder per class, list or packed file
  std::string backbone = "resnet50";
  std::string weights;                        ///< file to start from; empty for random weights
  std::optional<models::StrideIn> stride_in;  ///< empty: what the weight file says, else 3x3
  int64_t image_size = 224;
  int64_t resize = 0;  ///< size before the crop; 0 for image_size * 256 / 224
  data::Orientation orientation = data::Orientation::kUpright;
  data::Crop crop = data::Crop::kRandom;
  std::optional<double> flip;  ///< probability of mirroring an image
  std::optional<int64_t> epochs;
  int64_t batch_size = 32;
  std::optional<double> lr;       ///< of the backbone
  std::optional<double> head_lr;  ///< of the classifier
  std::optional<Schedule> schedule;
  double momentum = 0.9;
  double weight_decay = 5e-4;
  double label_smoothing = 0;
  double holdout = 0;             ///< share of every class kept back to measure accuracy on
  std::string tensorboard;        ///< folder for TensorBoard's event files; empty for none
  int64_t checkpoint_every = 60;  ///< seconds between checkpoints, at the end of an epoch
  int64_t seed = 0;
  KeepSourceOptions keep;  ///< of the images, when the training is done
  data::LoadOptions load;
  compute::ComputeOptions compute;

  /// Everything, as `proca pretrain` has it.
  void bind(OptionSet& options);
  /// What the network is and sees: `--backbone`, `--weights`, `--image-size`, ...
  void bind_model(OptionSet& options);
  /// How it is trained: `--epochs`, `--lr`, ...
  void bind_training(OptionSet& options);
  void validate() const;
  int64_t resolved_resize() const;
  /// Whether the backbone's weights are random before the training.
  bool from_scratch() const;
  /// The recipe with the fields that are set put in.
  Recipe resolved_recipe() const;
};

/// What came of it.
struct SourceTrainingResult {
  int64_t epochs = 0;                      ///< in all, those of earlier runs included
  std::optional<double> holdout_accuracy;  ///< of the last epoch, in [0, 1]
};

/// Trains a classifier on labelled source images and leaves it in the state
/// directory `out`. The model is the one of the last epoch.
///
/// A checkpoint is written at the end of an epoch when one is due, and when the training
/// is stopped (Ctrl-C), of the last finished epoch. When `out` holds a training that was
/// cut off, with the same options, it goes on from there, and on a CPU with the
/// same number of threads it ends bit-equal to one that was never interrupted;
/// when it holds a finished one, nothing is done. Other options than the state's
/// are an `InputError` that names the first one that differs.
///
/// Then the images of `options.keep` go into the state, also if the training was done before.
///
/// Throws `InputError` when the images have no labels or fewer than two
/// classes, and `Error` when the loss is no longer a number.
SourceTrainingResult train_source(const SourceTrainingOptions& options,
                                  const std::filesystem::path& out);

}  // namespace proca::engine
