#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proca {

/// The largest JSON document that is read. Copying and writing a document takes stack for
/// every level, and holding it up to twenty times its size.
struct JsonLimits {
  int64_t max_bytes = 64 << 20;  ///< the confusions of a thousand classes have 15 MB
  int64_t max_depth = 32;        ///< arrays and objects inside of one another; ours have ten
};

/// Throws `InputError` naming `origin` when the text is beyond `limits`. It need not be JSON;
/// to find that out is up to the parser, which is called next.
void check_json_limits(std::string_view text, const std::string& origin,
                       const JsonLimits& limits = {});

}  // namespace proca
