#include "report/collect/check_document.h"

#include <functional>
#include <utility>
#include <vector>

namespace proca::report {
namespace {

// Looks at one value; `where` is its place in the document.
using Check = std::function<void(const Json& value, const std::string& where)>;
using Fields = std::vector<std::pair<const char*, Check>>;

[[noreturn]] void refuse_value(const std::string& where, const char* rule) {
  throw std::invalid_argument(fmt::format("{} is not {}", where, rule));
}

void number(const Json& value, const std::string& where) {
  if (!value.is_number()) refuse_value(where, "a number");
}
void text(const Json& value, const std::string& where) {
  if (!value.is_string()) refuse_value(where, "text");
}

// Of elements that are like that, or null.
Check list_of(Check element) {
  return [element = std::move(element)](const Json& value, const std::string& where) {
    if (!value.is_array()) refuse_value(where, "a list");
    for (size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_null()) element(value[i], fmt::format("{}[{}]", where, i));
    }
  };
}

Check object_of(Fields fields) {
  return [fields = std::move(fields)](const Json& value, const std::string& where) {
    if (!value.is_object()) refuse_value(where, "an object");
    for (const auto& [key, check] : fields) {
      const auto found = value.find(key);
      if (found == value.end() || found->is_null()) continue;
      check(*found, where.empty() ? key : fmt::format("{}.{}", where, key));
    }
  };
}

// The accuracies of a seed or a step: all are numbers, those of groups lists of them.
void figures(const Json& value, const std::string& where) {
  for (const auto& [key, figure] : value.items()) {
    if (!key.ends_with("_percent") || figure.is_null()) continue;
    const auto place = fmt::format("{}.{}", where, key);
    figure.is_array() ? list_of(number)(figure, place) : number(figure, place);
  }
}

Check both(Check first, Check second) {
  return [first = std::move(first), second = std::move(second)](const Json& value,
                                                                const std::string& where) {
    first(value, where);
    second(value, where);
  };
}

Check step_record() {
  const auto points = object_of({{"x", list_of(number)},
                                 {"y", list_of(number)},
                                 {"kind", list_of(number)},
                                 {"label", list_of(number)},
                                 {"pseudo", list_of(number)},
                                 {"predicted", list_of(number)}});
  const auto picture = object_of({{"src", text},
                                  {"path", text},
                                  {"probability", number},
                                  {"predicted", number},
                                  {"soft_label", list_of(list_of(number))}});
  const auto prototypes = object_of(
      {{"label", number}, {"score", number}, {"step", number}, {"images", list_of(picture)}});
  const auto detection = object_of(
      {{"rule", text},
       {"threshold", number},
       {"classes",
        list_of(object_of({{"label", number}, {"score", number}, {"source_share", number}}))}});
  return object_of(
      {{"step", number},
       {"images", number},
       {"seconds", number},
       {"classes",
        list_of(object_of({{"label", number}, {"images", number}, {"correct", number}}))},
       {"confusion", list_of(list_of(number))},
       {"detection", detection},
       {"pseudo_labels",
        object_of({{"images", number}, {"correct", number}, {"counts", list_of(number)}})},
       {"prototypes", list_of(prototypes)},
       {"embedding", object_of({{"method", text}, {"kinds", list_of(text)}, {"points", points}})}});
}

Check seed() {
  const auto step_figures = both(object_of({{"step", number}}), figures);
  const auto curve = object_of(
      {{"step", number}, {"epoch", number}, {"values", list_of(number)}, {"seconds", number}});
  return object_of(
      {{"seed", number},
       {"metrics", both(object_of({{"steps", list_of(step_figures)}}), figures)},
       {"steps", list_of(step_record())},
       {"losses", object_of({{"terms", list_of(text)}, {"points", list_of(curve)}})},
       {"machine", object_of({{"device", text}, {"threads", number}, {"precision", text}})}});
}

Check run() {
  return object_of(
      {{"id", text},
       {"name", text},
       {"folder", text},
       {"preset", text},
       {"source", text},
       {"target", text},
       {"method", text},
       {"classes", list_of(text)},
       {"schedule", list_of(list_of(number))},
       {"steps_planned", number},
       {"status", text},
       {"options", list_of(object_of({{"section", text}, {"key", text}, {"value", text}}))},
       {"seeds", list_of(seed())}});
}

}  // namespace

void check_document(const Json& document) {
  static const auto check = object_of({{"created", text},
                                       {"version", text},
                                       {"runs", list_of(run())},
                                       {"tables", list_of(object_of({}))}});
  check(document, "");
}

}  // namespace proca::report
