#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/weights/byte_reader.h"
#include "models/weights/pth/pickle_reader.h"

namespace proca::models {

/// Implements `read_pickle` with a stack, a memo and the table of values. Opcodes are in
/// `pickle_reader.cpp`, the objects that they may build in `pickle_objects.cpp`.
class PickleInterpreter {
 public:
  PickleInterpreter(std::span<const uint8_t> bytes, const std::string& origin)
      : reader_(bytes, fmt::format("{}: bad pickle", origin)) {}

  PickleDocument run();

 private:
  using Items = std::vector<PickleHandle>;

  void run_opcode(uint8_t opcode);
  void run_reference(uint8_t opcode);
  void run_collection(uint8_t opcode);
  void reduce();
  void reduce_ordered_dict(const PickleValue& arguments);
  void reduce_tensor(std::string_view name, const PickleValue& arguments);
  void load_persistent();

  // The stack. Values below the topmost mark belong to an object that is still being
  // collected; a well-formed pickle does not pop them.
  PickleHandle pop() {
    if (stack_.size() <= floor()) reader_.fail("it takes from an empty stack");
    const auto top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleHandle top() const {
    if (stack_.size() <= floor()) reader_.fail("it takes from an empty stack");
    return stack_.back();
  }
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void push(PickleHandle handle) {
    if (stack_.size() >= kMaxPickleStack) fail_at("it needs too deep a stack", kMaxPickleStack);
    stack_.push_back(handle);
  }
  Items pop_to_mark() {
    if (marks_.empty()) reader_.fail("it closes a collection that it never opened");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    Items items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  Items pop_items(size_t count) {
    Items items(count);
    for (size_t i = count; i > 0; --i) items[i - 1] = pop();
    return items;
  }

  // The values.
  PickleHandle add(PickleValue value) {
    if (document_.values.size() >= kMaxPickleValues)
      fail_at("it holds too many values", kMaxPickleValues);
    count_items(value.items.size());
    document_.values.push_back(std::move(value));
    return static_cast<PickleHandle>(document_.values.size() - 1);
  }
  void push_value(PickleValue value) { push(add(std::move(value))); }
  void push_integer(int64_t value) { push_value({PickleKind::kInteger, value, {}, {}}); }
  void push_text(PickleKind kind, std::string_view text) { push_value({kind, 0, text, {}}); }
  void push_items(PickleKind kind, Items items) { push_value({kind, 0, {}, std::move(items)}); }
  void push_long(std::string_view bytes);
  void push_global(std::string_view module, std::string_view name);
  PickleValue& value(PickleHandle handle) { return document_.values[handle]; }

  // A small pickle must not grow a large table by appending one list again and again.
  void count_items(size_t count) {
    num_items_ += count;
    if (num_items_ > kMaxPickleItems) {
      fail_at("its containers hold too many items", kMaxPickleItems);
    }
  }
  void append(PickleValue& container, const Items& items) {
    count_items(items.size());
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  // The memo: values that the pickle uses again.
  void remember(size_t index) {
    // Indexes are given in order, each by at least one byte: a larger one than the number of
    // bytes read would only make the memo allocate memory.
    if (index >= kMaxPickleValues || index >= reader_.position()) {
      fail_at("it remembers too many values", std::min(kMaxPickleValues, reader_.position()));
    }
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = top();
    num_remembered_ = std::max(num_remembered_, index + 1);
  }
  void recall(size_t index) {
    if (index >= memo_.size() || !memo_[index]) reader_.fail("it recalls what it never remembered");
    push(*memo_[index]);
  }

  [[noreturn]] void fail_at(std::string_view what, size_t limit) const {
    reader_.fail(fmt::format("{} ({} are allowed)", what, limit));
  }

  int64_t integer(PickleHandle handle, std::string_view what) {
    const auto& number = value(handle);
    if (number.kind != PickleKind::kInteger) {
      reader_.fail(fmt::format("{} is {}, not an int of 64 bits", what, describe(number.kind)));
    }
    return number.integer;
  }
  std::vector<int64_t> integers(PickleHandle handle, std::string_view what);

  ByteReader reader_;
  PickleDocument document_;
  Items stack_;
  std::vector<size_t> marks_;
  std::vector<std::optional<PickleHandle>> memo_;
  size_t num_remembered_ = 0;
  size_t num_items_ = 0;
  std::unordered_map<std::string_view, int64_t> storage_by_key_;
};

}  // namespace proca::models
