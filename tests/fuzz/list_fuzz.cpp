// List files. What is read can be written, and is then read as the same again.

#include "data/source/list_file.h"
#include "fuzz_input.h"

namespace proca {
namespace {

using data::ListFile;

// Names for a million classes would take all the time.
constexpr data::ListLimits kLimits{.max_label = 10'000};

void check(const ListFile& list) {
  fuzz::require(!list.listing.samples.empty(), "a list has images");
  fuzz::require(list.line_numbers.size() == list.listing.samples.size(), "every image has a line");
  for (const auto& sample : list.listing.samples) {
    fuzz::require(sample.label == data::kNoLabel || sample.label < list.listing.num_classes(),
                  "every label has a name");
  }
}

void check_round_trip(const ListFile& list) {
  std::string text;
  try {
    text = data::format_list_file(list.listing, "root");
  } catch (const InputError&) {
    return;  // Names there are that a list cannot hold without a label.
  }
  const auto again = data::parse_list_file(text, "input", "root", kLimits);
  fuzz::require(again.listing.size() == list.listing.size(), "as many images");
  for (size_t i = 0; i < again.listing.samples.size(); ++i) {
    fuzz::require(again.listing.samples[i].path == list.listing.samples[i].path, "the same paths");
    fuzz::require(again.listing.samples[i].label == list.listing.samples[i].label,
                  "the same labels");
  }
}

}  // namespace
}  // namespace proca

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  fuzz::refuse_or([&] {
    const auto list = data::parse_list_file(fuzz::text_of({data, size}), "input", "root", kLimits);
    check(list);
    check_round_trip(list);
  });
  return 0;
}
