#pragma once

#include <string>

#include "proca/engine/adapter.h"
#include "protocol/preset.h"

namespace proca::experiments {

/// The options of a `[for.METHOD]` table: those of adaptation and those of the method.
struct MethodSettings {
  protocol::Preset::Settings adapt;
  protocol::Preset::Settings method;
};

/// A preset's options for one method and task; where several tables have an option, the winner's
/// value. A name is looked up among the options of adaptation first, then among the method's.
MethodSettings settings_for(const protocol::Preset& preset, const std::string& method,
                            const std::string& source, const std::string& target);

/// Checks all `[for.METHOD]` tables, also those of other methods and tasks. Throws `InputError`
/// naming preset and table for an unknown method, an option that neither adaptation nor the method
/// has, or a value that the option does not take.
void check_method_tables(const protocol::Preset& preset);

}  // namespace proca::experiments
