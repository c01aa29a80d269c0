#include "report/tables/paper_numbers.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "core/files/csv.h"
#include "proca/core/error.h"
#include "report/tables/embedded_paper.h"

namespace proca::report {
namespace {

constexpr std::string_view kHeader = "block,row,column,value,note";

// Cannot stand in a name itself.
std::string key_of(const std::string& block, const std::string& row, const std::string& column) {
  return block + '\n' + row + '\n' + column;
}

// Nothing if the text is neither a number nor a text in brackets.
std::optional<PaperNumber> read_value(const std::string& text) {
  if (text.size() > 2 && text.starts_with('[') && text.ends_with(']')) {
    return PaperNumber{.text = text.substr(1, text.size() - 2)};
  }
  PaperNumber number;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number.value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(number.value)) return {};
  return number;
}

}  // namespace

PaperNumbers PaperNumbers::parse(std::string_view csv, const std::string& origin) {
  PaperNumbers parsed;
  bool header_seen = false;
  int64_t line_number = 0;
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}:{}: {}", origin, line_number, what));
  };
  std::istringstream lines{std::string(csv)};
  for (std::string line; std::getline(lines, line);) {
    ++line_number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    if (!header_seen) {
      if (line != kHeader) refuse(fmt::format("the header is {}, not {}", kHeader, line));
      header_seen = true;
      continue;
    }
    const auto fields = csv_fields(line);
    if (!fields) refuse("a quote is out of place");
    if (fields->size() != 5) {
      refuse(fmt::format("has {} fields; 5 are expected: {}", fields->size(), kHeader));
    }
    for (size_t i = 0; i < 3; ++i) {
      if ((*fields)[i].empty()) refuse("block, row or column is empty");
    }
    auto number = read_value((*fields)[3]);
    if (!number) {
      refuse(fmt::format("\"{}\" is neither a number nor a text in brackets", (*fields)[3]));
    }
    number->note = (*fields)[4];
    const auto key = key_of((*fields)[0], (*fields)[1], (*fields)[2]);
    if (!parsed.numbers_.emplace(key, std::move(*number)).second) {
      refuse(fmt::format("{}, {}, {} occurs twice", (*fields)[0], (*fields)[1], (*fields)[2]));
    }
  }
  if (!header_seen) throw InputError(fmt::format("{}: has no header {}", origin, kHeader));
  return parsed;
}

std::optional<PaperNumber> PaperNumbers::find(const std::string& block, const std::string& row,
                                              const std::string& column) const {
  const auto found = numbers_.find(key_of(block, row, column));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

const PaperNumbers& paper_numbers(const std::string& experiment) {
  static const auto all = [] {
    std::map<std::string, PaperNumbers> parsed;
    for (const auto& file : embedded_paper()) {
      const std::string name(file.name);
      parsed[name] = PaperNumbers::parse(file.text, fmt::format("paper/{}.csv", name));
    }
    return parsed;
  }();
  static const PaperNumbers none;
  const auto found = all.find(experiment);
  return found == all.end() ? none : found->second;
}

}  // namespace proca::report
