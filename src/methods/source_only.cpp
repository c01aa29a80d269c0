// Source only: the source model as it is, never adapted. The floor that every
// other method is measured against.

#include "proca/methods/method.h"

namespace proca::methods {
namespace {

class SourceOnly final : public Method {
 public:
  std::vector<LossTerm> compute_losses(const AdaptationBatch&, const StepContext&) override {
    return {};
  }
};

}  // namespace

MethodSpec source_only_spec() {
  return {"source-only", "the source model as it is, never adapted", [](OptionSet&) {
            return [](const models::ClassifierNetwork&) { return std::make_unique<SourceOnly>(); };
          }};
}

}  // namespace proca::methods
