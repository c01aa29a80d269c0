#include "proca/core/version.h"

namespace proca {

std::string library_version() { return PROCA_VERSION; }

}  // namespace proca
