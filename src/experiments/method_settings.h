#pragma once

#include <string>

#include "proca/engine/adapter.h"
#include "protocol/preset.h"

namespace proca::experiments {

/// The part of a `[for.METHOD]` table that is about adaptation, and the part that is
/// about the method.
struct MethodSettings {
  protocol::Preset::Settings adapt;
  protocol::Preset::Settings method;
};

/// What a preset says of one method and task, what wins having replaced the rest. An
/// option is looked for among those of adaptation first, then among the method's.
MethodSettings settings_for(const protocol::Preset& preset, const std::string& method,
                            const std::string& source, const std::string& target);

/// Throws `InputError` naming preset and table for a `[for.METHOD]` table, whether it
/// holds now or not, of an unknown method, or with an option that neither adaptation
/// nor that method has, or with a value that the option does not take.
void check_method_tables(const protocol::Preset& preset);

}  // namespace proca::experiments
