#pragma once

#include <exception>
#include <string>

#include <gtest/gtest.h>

#include "proca/core/error.h"

namespace proca::test {

/// The message of the `Kind` that `action` throws. The test fails if `action`
/// throws nothing or something else.
template <typename Kind = InputError, typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "threw something else: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "threw nothing";
  return "";
}

}  // namespace proca::test
