#include "experiments/target_steps.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "data/source/subset.h"
#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::experiments {
namespace {

// Throws for a step without images, and warns of a class without images.
void check_steps(const data::ImageListing& listing, const protocol::ClassSchedule& schedule) {
  const auto counts = listing.count_per_class();
  for (size_t step = 0; step < schedule.steps.size(); ++step) {
    int64_t images = 0;
    for (const int64_t label : schedule.steps[step]) {
      const int64_t count = counts[static_cast<size_t>(label)];
      images += count;
      if (count == 0) {
        log_warning(fmt::format("{}: has no image of class {}, which should arrive at step {}",
                                listing.origin, listing.class_names[static_cast<size_t>(label)],
                                step + 1));
      }
    }
    if (images == 0) {
      throw InputError(
          fmt::format("{}: has no image of the classes of step {}", listing.origin, step + 1));
    }
  }
}

std::shared_ptr<const data::ImageSource> part_without_labels(
    const std::shared_ptr<const data::ImageStore>& store, const std::vector<int64_t>& indexes) {
  return data::without_labels({data::subset(data::stored_images(store), indexes)});
}

}  // namespace

TargetSteps::TargetSteps(std::shared_ptr<const data::ImageSource> images,
                         protocol::ClassSchedule schedule, data::LoadOptions load, int64_t threads)
    : images_(std::move(images)),
      schedule_(std::move(schedule)),
      load_(std::move(load)),
      threads_(threads) {
  check_steps(listing(), schedule_);
}

void TargetSteps::load(const data::Preprocessing& preprocessing) {
  if (store_) return;
  const auto seen = schedule_.all();
  const std::set<int64_t> wanted(seen.begin(), seen.end());
  std::vector<int64_t> indexes;
  const auto& samples = listing().samples;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (wanted.contains(samples[i].label)) indexes.push_back(static_cast<int64_t>(i));
  }
  wanted_ = data::subset(images_, indexes);
  store_ = std::make_shared<data::ImageStore>(
      load_.make_store(wanted_, preprocessing.resolved_resize(), threads_));
  for (const auto& classes : schedule_.steps) {
    auto& step = steps_.emplace_back();
    for (int64_t i = 0; i < store_->size(); ++i) {
      const auto label = store_->sample(i).label;
      if (std::find(classes.begin(), classes.end(), label) != classes.end()) step.push_back(i);
    }
  }
  for (int64_t i = 0; i < store_->size(); ++i) index_of_name_[store_->sample(i).path] = i;
}

const std::vector<int64_t>& TargetSteps::step(int64_t number) const {
  return steps_.at(static_cast<size_t>(number - 1));
}

std::vector<int64_t> TargetSteps::seen(int64_t number) const {
  std::vector<int64_t> seen;
  const int64_t last = number == 0 ? schedule_.num_steps() : number;
  for (int64_t i = 1; i <= last; ++i) seen.insert(seen.end(), step(i).begin(), step(i).end());
  std::sort(seen.begin(), seen.end());
  return seen;
}

std::vector<int64_t> TargetSteps::named(const std::vector<std::string>& names) const {
  std::vector<int64_t> images;
  for (const auto& name : names) {
    const auto found = index_of_name_.find(name);
    if (found != index_of_name_.end()) images.push_back(found->second);
  }
  return images;
}

std::shared_ptr<const data::ImageSource> TargetSteps::unlabelled(int64_t number) const {
  return part_without_labels(store_, step(number));
}

std::shared_ptr<const data::ImageSource> TargetSteps::unlabelled(int64_t number,
                                                                 const data::ResizeOptions& size) {
  if (!resized_) {
    resized_ = std::make_shared<data::ImageStore>(
        load_.beside(*store_).make_store(wanted_, size, threads_));
  }
  return part_without_labels(resized_, step(number));
}

}  // namespace proca::experiments
