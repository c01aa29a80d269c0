#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "proca/data/image_source.h"
#include "proca/data/image_store.h"
#include "proca/data/load_options.h"
#include "proca/data/preprocessing.h"
#include "protocol/class_schedule.h"

namespace proca::experiments {

/// The labelled target images of a protocol, dealt out to its steps by their classes and
/// decoded once for all steps and seeds.
class TargetSteps {
 public:
  /// Throws `InputError` for a step without images, and warns of a class without images.
  TargetSteps(std::shared_ptr<const data::ImageSource> images, protocol::ClassSchedule schedule,
              data::LoadOptions load, int64_t threads);

  const data::ImageListing& listing() const { return images_->listing(); }
  const protocol::ClassSchedule& schedule() const { return schedule_; }

  /// Decodes the images of all steps, the first time. The functions below need them.
  void load(const data::Preprocessing& preprocessing);

  /// The images at the size of evaluation.
  const data::ImageStore& store() const { return *store_; }
  /// Those of a step (from 1), as indexes in the store.
  const std::vector<int64_t>& step(int64_t number) const;
  /// Those of all steps up to this one, ascending; of all steps for step 0.
  std::vector<int64_t> seen(int64_t number) const;
  /// Those with these names; unknown names are ignored.
  std::vector<int64_t> named(const std::vector<std::string>& names) const;

  /// The images of a step without their labels, for adaptation.
  std::shared_ptr<const data::ImageSource> unlabelled(int64_t number) const;
  /// The same at another size.
  std::shared_ptr<const data::ImageSource> unlabelled(int64_t number,
                                                      const data::ResizeOptions& size);

 private:
  std::shared_ptr<const data::ImageSource> images_, wanted_;
  protocol::ClassSchedule schedule_;
  data::LoadOptions load_;
  int64_t threads_;
  std::shared_ptr<const data::ImageStore> store_, resized_;
  std::vector<std::vector<int64_t>> steps_;
  std::unordered_map<std::string, int64_t> index_of_name_;
};

}  // namespace proca::experiments
