#include "failure.h"

#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "compute/failure_text.h"
#include "proca/core/error.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"

namespace proca::app {
namespace {

constexpr int kFailed = 1, kBadInput = 2, kInterrupted = 130;

// Exceptions that are not ours.
int report_foreign(const std::exception& error) {
  if (const auto wanted = compute::memory_wanted(error); !wanted.empty()) {
    log_error(
        fmt::format("there is not enough memory: {} could not be had; smaller batches "
                    "(--batch-size), fewer --threads or a smaller --cache-ram need less",
                    wanted));
    return kFailed;
  }
  if (const auto* of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    log_error(fmt::format("{}: cannot be used: {}", of_file->path1().string(),
                          of_file->code().message()));
    return kBadInput;
  }
  log_error(compute::failure_text(error));
  return kFailed;
}

}  // namespace

int report_failure(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted& error) {
    log_error(error.what());
    return kInterrupted;
  } catch (const InputError& error) {
    log_error(error.what());
    return kBadInput;
  } catch (const Error& error) {
    log_error(error.what());
    return kFailed;
  } catch (const std::exception& error) {
    return report_foreign(error);
  } catch (...) {
    log_error("something failed that has no description");
    return kFailed;
  }
}

}  // namespace proca::app
