#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proca/models/classifier_network.h"
#include "proca/models/weight_file.h"

namespace proca::models {

/// Whether a weight file must hold the classifier (`fc`) that the network has.
enum class HeadPolicy {
  kMayDiffer,  ///< a file for other classes, or without a classifier, gives its backbone only
  kMustMatch,  ///< everything is loaded or nothing: for a network of one's own that comes back
};

/// What `load_weights` did.
struct LoadReport {
  bool head_loaded = true;  ///< false: `fc` was left as it was
  /// One sentence for the log when something was left out on purpose, else empty:
  /// `resnet50.pth: its classifier is for 1000 classes, not 31, and was left out`.
  std::string notice;
};

/// Copies the tensors of a file into a network, converting dtypes (a file in
/// half precision fits a network in float) and keeping the network's devices
/// and memory layout.
///
/// Names and shapes must agree, with two exceptions: `num_batches_tracked`
/// counters may be missing (PyTorch before 0.4.1 wrote none), and `fc` may
/// differ as `head` allows. Otherwise `InputError` names the file and lists what
/// is missing, unexpected and of another shape, at most eight of each; the
/// network is then untouched. So it is for values that `check_weights` refuses.
///
/// A file whose stride layout differs from the network's loads without
/// complaint, since no shape tells them apart: ask `stride_in_of` before
/// building the network.
LoadReport load_weights(ClassifierNetwork& network, const WeightFile& file,
                        HeadPolicy head = HeadPolicy::kMayDiffer);

/// In which convolution of its bottleneck blocks a file's network halves the
/// resolution, according to its metadata: `stride_in` = `1x1` or `3x3` (what proca
/// writes), or `stride_in_1x1` = `true` or `false`. Nothing if neither is there.
/// Throws `InputError` for another value.
std::optional<StrideIn> stride_in_of(const WeightFile& file);

/// The number of classes a file's classifier tells apart: the rows of
/// `fc.weight`. Throws `InputError` if the file has no such matrix, or
/// one without rows.
int64_t num_classes_of(const WeightFile& file);

}  // namespace proca::models
