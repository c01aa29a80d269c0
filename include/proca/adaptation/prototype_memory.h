#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <torch/types.h>

namespace proca::adaptation {

/// The prototypes of one class.
struct ClassPrototypes {
  /// The id of an image of an earlier step, whose origin is known.
  static constexpr int64_t kNamed = -1;

  int64_t label = 0;
  double score = 0;                       ///< normalised cumulative probability v_k at capture
  int64_t step = 0;                       ///< time step of the capture, from 0
  torch::Tensor pixels = {};              ///< uint8 [M, H, W, 3]
  torch::Tensor soft_labels = {};         ///< float [M, K]
  std::vector<int64_t> image_ids = {};    ///< [M]: index in the step's target set
  std::vector<std::string> origins = {};  ///< [M]: file names; empty until `name_images`
};

/// Prototypes selected by index.
struct PrototypeBatch {
  torch::Tensor pixels;       ///< uint8 [N, H, W, 3]
  torch::Tensor soft_labels;  ///< float [N, K]
  torch::Tensor labels;       ///< int64 [N]
};

/// A few images per class that outlive their time step: M prototypes for every
/// class that has been captured, as bytes, with the soft labels the network gave
/// them then.
///
/// Every class has the same number of prototypes. With a byte budget that number
/// is lowered for all classes, each keeping its first ones, whenever another class
/// would not fit otherwise, with a warning each time.
///
/// Adding, replacing and looking up a class take time proportional to that class
/// alone, so that tens of thousands of classes are as fast as ten.
class PrototypeMemory {
 public:
  /// At most `per_class` prototypes per class; `budget_bytes` 0 for no limit.
  explicit PrototypeMemory(int64_t per_class = 10, int64_t budget_bytes = 0);

  /// The number of prototypes per class now: `per_class` unless the budget lowered it.
  int64_t per_class() const { return per_class_; }
  int64_t num_classes() const { return static_cast<int64_t>(classes_.size()); }
  int64_t size() const { return num_classes() * per_class_; }
  /// Pixels and soft labels of all prototypes.
  int64_t bytes() const;
  /// Grows with every change, so that a copy knows whether it is current.
  int64_t revision() const { return revision_; }

  bool contains(int64_t label) const { return places_.contains(label); }
  /// The class must be there.
  const ClassPrototypes& at(int64_t label) const;
  /// In the order in which they were added.
  const std::vector<ClassPrototypes>& classes() const { return classes_; }

  /// Adds a class, or replaces what is there under its label. There must be at
  /// least `per_class()` prototypes, all of one size; the first ones are kept.
  ///
  /// Throws `InputError` when the budget is too small for one prototype per class,
  /// `Error` when a soft label is not a finite number, and `std::invalid_argument` for
  /// shapes that do not fit the others. The memory is then as it was.
  void put(ClassPrototypes prototypes);
  /// Sets the origins of all prototypes whose images have no name yet, and forgets their
  /// ids, which belong to the step. For the engine: a method does not see file names,
  /// since a class folder may be part of them.
  void name_images(const std::function<std::string(int64_t image_id)>& name_of);

  /// Prototype i is number i % per_class() of class i / per_class(), in the order of
  /// `classes()`. The batch is on the CPU.
  PrototypeBatch gather(const std::vector<int64_t>& indexes) const;

  /// Tensors `labels`, `scores`, `steps`, `pixels` [C, M, H, W, 3], `soft_labels`
  /// [C, M, K] and `origins` (UTF-8 JSON as bytes, an array of names per class); nothing
  /// when empty.
  std::map<std::string, torch::Tensor> save() const;
  /// Restores what `save` returned and applies this memory's own limits to it. Throws
  /// `InputError` naming what is missing or does not fit; the memory is then as it was.
  void load(const std::map<std::string, torch::Tensor>& tensors);

 private:
  void make_room(int64_t num_classes, int64_t prototype_bytes);

  int64_t per_class_;
  int64_t budget_bytes_;
  int64_t revision_ = 0;
  std::vector<ClassPrototypes> classes_;
  std::unordered_map<int64_t, size_t> places_;  // label -> index in classes_
};

}  // namespace proca::adaptation
