#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/nearest_word.h"
#include "core/parse_number.h"
#include "proca/core/error.h"
#include "protocol/preset.h"

namespace proca::protocol {
namespace {

using data::LabelMeaning;

// The order for one source and target: the task's own values, else the general ones.
Preset::Order order_of(const Preset& preset, const std::string& source, const std::string& target) {
  Preset::Order order;
  if (const auto found = preset.orders.find(""); found != preset.orders.end()) {
    order = found->second;
  }
  if (const auto found = preset.orders.find(source + "->" + target); found != preset.orders.end()) {
    const auto& own = found->second;
    if (!own.classes.empty()) order.classes = own.classes;
    if (own.classes_per_step > 0) order.classes_per_step = own.classes_per_step;
    if (own.num_steps > 0) order.num_steps = own.num_steps;
    if (own.s1_classes > 0) order.s1_classes = own.s1_classes;
  }
  return order;
}

bool has_names(const data::ImageListing& images) {
  if (images.label_meaning == LabelMeaning::kName) return true;
  for (size_t label = 0; label < images.class_names.size(); ++label) {
    if (images.class_names[label] != std::to_string(label)) return true;
  }
  return false;
}

class ClassLookup {
 public:
  ClassLookup(const Preset& preset, const data::ImageListing& images)
      : preset_(preset), images_(images) {}

  int64_t label_of(const std::string& word) const {
    const auto number = parse_whole_number(word);
    // A folder called "24" is meant by its name: folders are numbered by alphabet,
    // and "24" comes before "3".
    if (!number || images_.label_meaning == LabelMeaning::kName) {
      const auto& names = images_.class_names;
      const auto place = std::find(names.begin(), names.end(), word);
      if (place != names.end()) return place - names.begin();
    }
    if (!number) refuse_name(word);
    return checked(*number);
  }

  int64_t checked(int64_t label) const {
    if (label >= images_.num_classes()) {
      throw InputError(
          fmt::format("preset {}: the class order has label {}, but {} has labels 0 to {}",
                      preset_.name, label, images_.origin, images_.num_classes() - 1));
    }
    return label;
  }

 private:
  [[noreturn]] void refuse_name(const std::string& word) const {
    const auto nearest = nearest_word(word, images_.class_names);
    throw InputError(fmt::format("preset {}: the class order has \"{}\", which is no class of {}{}",
                                 preset_.name, word, images_.origin,
                                 nearest.empty() ? "" : "; the nearest is \"" + nearest + "\""));
  }

  const Preset& preset_;
  const data::ImageListing& images_;
};

std::vector<int64_t> labels_in_order(const Preset& preset, const std::vector<std::string>& classes,
                                     const data::ImageListing& images) {
  std::vector<int64_t> labels;
  if (classes.empty()) {
    labels.resize(static_cast<size_t>(images.num_classes()));
    std::iota(labels.begin(), labels.end(), 0);
    return labels;
  }
  const ClassLookup lookup(preset, images);
  const bool only_names = std::none_of(classes.begin(), classes.end(), [](const auto& word) {
    return parse_whole_number(word).has_value();
  });
  const bool by_place = only_names && !has_names(images);
  std::set<int64_t> seen;
  for (size_t i = 0; i < classes.size(); ++i) {
    labels.push_back(by_place ? lookup.checked(static_cast<int64_t>(i))
                              : lookup.label_of(classes[i]));
    if (!seen.insert(labels.back()).second) {
      throw InputError(fmt::format("preset {}: the class order has \"{}\" twice", preset.name,
                                   images.class_names[static_cast<size_t>(labels.back())]));
    }
  }
  return labels;
}

}  // namespace

ClassSchedule make_schedule(const Preset& preset, const std::string& source,
                            const std::string& target, const data::ImageListing& source_images,
                            int64_t classes_per_step) {
  auto order = order_of(preset, source, target);
  if (order.classes_per_step < 1 || order.num_steps < 1) {
    throw InputError(fmt::format("preset {}: {} is missing", preset.name,
                                 order.num_steps < 1 ? "steps" : "classes-per-step"));
  }
  if (!source_images.labelled()) {
    throw InputError(fmt::format("{}: the images have no labels", source_images.origin));
  }
  const auto labels = labels_in_order(preset, order.classes, source_images);
  const auto num_labels = static_cast<int64_t>(labels.size());
  if (classes_per_step > 0) {
    if (classes_per_step > num_labels) {
      throw InvalidOption(
          fmt::format("--classes-per-step: {} are more than the {} classes that preset {} has for "
                      "{} -> {}",
                      classes_per_step, num_labels, preset.name, source, target));
    }
    order.classes_per_step = classes_per_step;
    order.num_steps = num_labels / classes_per_step;
  }
  if (order.classes_per_step > num_labels ||
      order.num_steps > num_labels / order.classes_per_step) {
    throw InputError(fmt::format(
        "preset {}: {} steps of {} classes are more than the {} classes {}", preset.name,
        order.num_steps, order.classes_per_step, num_labels,
        order.classes.empty() ? "of " + source_images.origin : std::string("of the class order")));
  }
  const auto s1_classes = order.s1_classes > 0 ? order.s1_classes : order.classes_per_step;
  if (s1_classes > order.num_steps * order.classes_per_step) {
    throw InputError(fmt::format("preset {}: s1-classes: {} are more than the {} that arrive",
                                 preset.name, s1_classes,
                                 order.num_steps * order.classes_per_step));
  }
  ClassSchedule schedule;
  auto next = labels.begin();
  for (int64_t step = 0; step < order.num_steps; ++step) {
    schedule.steps.emplace_back(next, next + order.classes_per_step);
    next += order.classes_per_step;
  }
  schedule.first_classes.assign(labels.begin(), labels.begin() + s1_classes);
  return schedule;
}

}  // namespace proca::protocol
