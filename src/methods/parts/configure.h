#pragma once

#include <memory>
#include <utility>

#include "proca/methods/method.h"

namespace proca::methods {

/// `MethodSpec::configure` for a method whose options bind themselves (`bind`) and whose
/// constructor takes network, options and seed.
template <typename M, typename Options>
MethodFactory configure(OptionSet& options) {
  const auto values = std::make_shared<Options>();
  values->bind(options);
  return [values](models::ClassifierNetwork network, uint64_t seed) {
    return std::make_unique<M>(std::move(network), *values, seed);
  };
}

}  // namespace proca::methods
