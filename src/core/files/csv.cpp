#include "core/files/csv.h"

#include <algorithm>

namespace proca {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

std::optional<std::vector<std::string>> csv_fields(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t place = 0;; ++place) {
    auto& field = fields.emplace_back();
    if (place < line.size() && line[place] == '"') {
      for (++place;; ++place) {
        const auto quote = line.find('"', place);
        if (quote == std::string_view::npos) return std::nullopt;
        field += line.substr(place, quote - place);
        place = quote + 1;
        // Two quotes stand for one; a single one ends the field.
        if (place == line.size() || line[place] != '"') break;
        field += '"';
      }
      if (place < line.size() && line[place] != ',') return std::nullopt;
    } else {
      const auto end = std::min(line.find(',', place), line.size());
      field = line.substr(place, end - place);
      if (field.find('"') != std::string::npos) return std::nullopt;
      place = end;
    }
    if (place == line.size()) return fields;
  }
}

}  // namespace proca
