// PADA with ProCA's prototypes against forgetting, as the ProCA paper combines them.

#include "methods/parts/with_prototypes.h"

namespace proca::methods {

MethodSpec pada_spec();

MethodSpec pada_prototypes_spec() {
  return with_prototypes(pada_spec(), "pada-prototypes",
                         "PADA, with prototypes that are aligned and replayed");
}

}  // namespace proca::methods
