// BA3US with ProCA's prototypes against forgetting, as the ProCA paper combines them.

#include "methods/parts/with_prototypes.h"

namespace proca::methods {

MethodSpec ba3us_spec();

MethodSpec ba3us_prototypes_spec() {
  return with_prototypes(ba3us_spec(), "ba3us-prototypes",
                         "BA3US, with prototypes that are aligned and replayed");
}

}  // namespace proca::methods
