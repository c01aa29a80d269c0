// ETN with ProCA's prototypes against forgetting, as the ProCA paper combines them.

#include "methods/parts/with_prototypes.h"

namespace proca::methods {

MethodSpec etn_spec();

MethodSpec etn_prototypes_spec() {
  return with_prototypes(etn_spec(), "etn-prototypes",
                         "ETN, with prototypes that are aligned and replayed");
}

}  // namespace proca::methods
