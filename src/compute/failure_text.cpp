#include "compute/failure_text.h"

#include <new>
#include <string_view>

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "core/parse_number.h"

namespace proca::compute {
namespace {

// What follows is a stack.
constexpr std::string_view kStack = "Exception raised from";
constexpr std::string_view kScriptStack = "Traceback of TorchScript";

std::string trimmed(std::string_view text) {
  constexpr const char* kBlank = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin));
}

}  // namespace

std::string failure_text(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  const bool is_of_a_script = text.find(kScriptStack) != text.npos;
  text = trimmed(std::string_view(text).substr(0, text.find(kStack)));
  // A script's own words come after the lines of code that led to them.
  return trimmed(is_of_a_script ? text.substr(text.rfind('\n') + 1)
                                : text.substr(0, text.find('\n')));
}

std::string memory_wanted(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "memory";
  const std::string_view text = error.what();
  constexpr std::string_view kOnHost = "you tried to allocate ";
  const auto place = text.find(kOnHost);
  if (place != text.npos) {
    const auto digits = text.substr(place + kOnHost.size());
    const auto bytes = parse_whole_number(digits.substr(0, digits.find(' ')));
    if (!bytes) return "memory";
    return fmt::format("{:.1f} MB of memory", static_cast<double>(*bytes) / 1e6);
  }
  return text.find("out of memory") != text.npos ? "memory of the GPU" : "";
}

}  // namespace proca::compute
