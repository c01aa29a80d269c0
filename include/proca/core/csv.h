#pragma once

#include <string>

namespace proca {

/// A field of a CSV line (RFC 4180): quoted where needed, quotes doubled.
std::string csv_field(const std::string& text);

}  // namespace proca
