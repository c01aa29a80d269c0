#include "training/epoch_feeds.h"

#include <fmt/format.h>

namespace proca::training {
namespace {

TensorBatch next_of(BatchFeed* feed) {
  return feed != nullptr ? feed->next().value() : TensorBatch{};
}

}  // namespace

EpochFeeds::EpochFeeds(const TrainingStream& source, const TrainingStream& target,
                       const methods::EpochPlan& plan, const EpochRange& range, int64_t batch_size,
                       int64_t done) {
  if (plan.source) source_ = source.load(range, batch_size, done);
  if (plan.target) target_ = target.load(range, batch_size, done);
  if (plan.extra_source == 0) return;
  // A stream of its own for every epoch, since the number may change with each.
  const EpochRange from_zero{
      .step = range.step, .epoch = range.epoch, .count = range.count, .endless = true};
  extra_ = source.shuffled(fmt::format("extra source, epoch {}", range.epoch))
               .load(from_zero, plan.extra_source, done);
}

methods::AdaptationBatch EpochFeeds::next() {
  auto source = next_of(source_.get()), target = next_of(target_.get()),
       extra = next_of(extra_.get());
  return {.source_images = source.images,
          .source_labels = source.labels,
          .target_images = target.images,
          .target_ids = target.indexes,
          .extra_source_images = extra.images,
          .extra_source_labels = extra.labels};
}

}  // namespace proca::training
