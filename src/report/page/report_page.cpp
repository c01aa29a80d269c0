#include "report/page/report_page.h"

#include <map>
#include <stdexcept>
#include <string_view>

#include "core/files/read_json.h"
#include "report/page/embedded_page.h"

namespace proca::report {
namespace {

std::string joined(std::span<const EmbeddedFile> files) {
  std::string text;
  for (const auto& file : files) {
    text += file.text;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

std::string escaped(std::string_view text, const std::map<char, std::string_view>& escapes) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto escape = escapes.find(c);
    if (escape == escapes.end()) {
      result += c;
    } else {
      result += escape->second;
    }
  }
  return result;
}

std::string html_escaped(std::string_view text) {
  return escaped(text,
                 {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}});
}

// JSON in a script element must not have `</script` or `<!--` in it. A `<` occurs in strings only,
// where it may be written as an escape.
std::string script_escaped(std::string_view json) { return escaped(json, {{'<', "\\u003c"}}); }

// Replaces each `{{name}}`, in one pass: values may have what looks like a placeholder.
std::string filled(std::string_view page, const std::map<std::string, std::string>& values) {
  std::string text;
  for (size_t begin = 0;;) {
    const auto open = page.find("{{", begin);
    text += page.substr(begin, open - begin);
    if (open == page.npos) return text;
    const auto close = page.find("}}", open);
    if (close == page.npos) throw std::logic_error("page.html: {{ without }}");
    text += values.at(std::string(page.substr(open + 2, close - open - 2)));
    begin = close + 2;
  }
}

}  // namespace

bool has_charts() { return !embedded_chart_library().empty(); }

std::string report_page(const std::string& document) {
  const auto json = Json::parse(document, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    throw std::invalid_argument("report_page: the document is no JSON object");
  }
  // Serialised again: bytes that are not UTF-8 become the replacement character.
  return filled(embedded_page_html().front().text,
                {{"title", html_escaped(json.value("title", std::string("proca")))},
                 {"style", joined(embedded_page_styles())},
                 {"chart-library", joined(embedded_chart_library())},
                 {"script", joined(embedded_page_scripts())},
                 {"data", script_escaped(text_of(json))}});
}

}  // namespace proca::report
