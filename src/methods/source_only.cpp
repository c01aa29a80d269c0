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
  bool trains() const override { return false; }
};

}  // namespace

MethodSpec source_only_spec() {
  return {.name = "source-only",
          .summary = "the source model as it is, never adapted",
          .configure = [](OptionSet&) -> MethodFactory {
            return [](const models::ClassifierNetwork&, uint64_t /*seed*/) {
              return std::make_unique<SourceOnly>();
            };
          },
          .trains = false};
}

}  // namespace proca::methods
