#include "core/files/seal.h"

#include <cstdint>

#include <fmt/format.h>

#include "proca/core/error.h"
#include "proca/core/file.h"

namespace proca {
namespace {

// How a seal begins and ends, with the checksum in between.
struct Form {
  std::string_view begin, end;
};
constexpr Form kJson = {",\n  \"crc32\": \"", "\"\n}\n"};
constexpr Form kToml = {"# crc32: ", "\n"};

std::string seal(std::string_view content, const Form& form) {
  return fmt::format("{}{}{:08x}{}", content, form.begin, crc32(bytes_of(content)), form.end);
}

Seal check(std::string_view text, const Form& form) {
  const auto at = text.rfind(form.begin);
  if (at == text.npos) return Seal::kNone;
  return text == seal(text.substr(0, at), form) ? Seal::kIntact : Seal::kBroken;
}

}  // namespace

std::string seal_json(std::string_view text) {
  const auto brace = text.rfind('}');
  const auto content = text.substr(0, brace);
  return seal(content.substr(0, content.find_last_not_of(" \n") + 1), kJson);
}

std::string seal_toml(std::string_view text) { return seal(text, kToml); }

Seal check_json_seal(std::string_view text) { return check(text, kJson); }
Seal check_toml_seal(std::string_view text) { return check(text, kToml); }

void refuse_broken_seal(Seal seal, const std::string& origin) {
  if (seal != Seal::kBroken) return;
  throw InputError(fmt::format("{}: is damaged: its checksum does not match", origin));
}

}  // namespace proca
