#include "core/files/text_checksum.h"

#include <cstdint>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {
namespace {

// What stands in front of the digits and behind them.
struct Form {
  std::string_view begin, end;
};
constexpr Form kJson = {",\n  \"crc32\": \"", "\"\n}\n"};
constexpr Form kToml = {"# crc32: ", "\n"};

std::string append(std::string_view content, const Form& form) {
  return fmt::format("{}{}{}{}", content, form.begin, crc32_digits(content), form.end);
}

TextChecksum check(std::string_view text, const Form& form) {
  const auto at = text.rfind(form.begin);
  if (at == text.npos) return TextChecksum::kNone;
  return text == append(text.substr(0, at), form) ? TextChecksum::kRight : TextChecksum::kWrong;
}

}  // namespace

std::string crc32_digits(std::string_view text) {
  return fmt::format("{:08x}", crc32(bytes_of(text)));
}

std::string append_json_checksum(std::string_view text) {
  const auto brace = text.rfind('}');
  const auto content = text.substr(0, brace);
  return append(content.substr(0, content.find_last_not_of(" \n") + 1), kJson);
}

std::string append_toml_checksum(std::string_view text) { return append(text, kToml); }

TextChecksum check_json_checksum(std::string_view text) { return check(text, kJson); }
TextChecksum check_toml_checksum(std::string_view text) { return check(text, kToml); }

void refuse_wrong_checksum(TextChecksum checksum, const std::string& origin) {
  if (checksum != TextChecksum::kWrong) return;
  throw InputError(fmt::format("{}: is damaged: its checksum does not match", origin));
}

}  // namespace proca
