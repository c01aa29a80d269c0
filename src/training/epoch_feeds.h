#pragma once

#include <memory>

#include "proca/methods/method.h"
#include "training/training_stream.h"

namespace proca::training {

/// The batches of an epoch: what its plan asks for of source, target and extra source images.
class EpochFeeds {
 public:
  /// From iteration `done` of the epoch on.
  EpochFeeds(const TrainingStream& source, const TrainingStream& target,
             const methods::EpochPlan& plan, const EpochRange& range, int64_t batch_size,
             int64_t done);

  methods::AdaptationBatch next();

 private:
  std::unique_ptr<BatchFeed> source_, target_, extra_;  // null where the plan has none
};

}  // namespace proca::training
