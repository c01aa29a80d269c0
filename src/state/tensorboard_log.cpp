#include "state/tensorboard_log.h"

#include <algorithm>

#include <fmt/format.h>
#include <torch/types.h>

#include "data/codec/encode_jpeg.h"
#include "proca/core/error.h"
#include "proca/core/log.h"

namespace proca::state {
namespace {

constexpr int64_t kMostShown = 10;

// The start of a run has no values.
bool is_shown(const std::string& event) { return event != "start"; }

std::string group_of(const std::string& event) {
  if (event == "epoch") return "pretrain";
  if (event == "adapt_epoch") return "adapt";
  return event;
}

// Fields that are positions on the x axis, not values.
bool is_place(const std::string& field) { return field == "epoch" || field == "step"; }

std::string tag_of(const std::string& event, std::string field) {
  std::replace(field.begin(), field.end(), '.', '/');
  return group_of(event) + "/" + field;
}

int64_t place_in(const std::vector<EventField>& fields, const std::string& name) {
  for (const auto& [field, value] : fields) {
    if (field == name && std::holds_alternative<int64_t>(value)) return std::get<int64_t>(value);
  }
  return 0;
}

}  // namespace

void TensorBoardLog::add(const std::string& event, const std::vector<EventField>& fields) {
  if (!is_shown(event)) return;
  const bool is_epoch = event == "epoch" || event == "adapt_epoch";
  const int64_t place = is_epoch ? ++epochs_ : place_in(fields, "step");
  write([&] {
    for (const auto& [name, value] : fields) {
      if (is_place(name)) continue;
      if (const auto* number = std::get_if<double>(&value)) {
        writer_.scalar(tag_of(event, name), place, *number);
      } else if (const auto* count = std::get_if<int64_t>(&value)) {
        writer_.scalar(tag_of(event, name), place, static_cast<double>(*count));
      }
    }
  });
}

void TensorBoardLog::write(const std::function<void()>& values) {
  if (has_failed_) return;
  try {
    values();
  } catch (const Error& error) {
    has_failed_ = true;
    log_warning(fmt::format("{}; from here on nothing is shown in TensorBoard", error.what()));
  }
}

void TensorBoardLog::add_prototypes(const adaptation::PrototypeMemory& memory, int64_t step,
                                    const std::vector<std::string>& class_names) {
  for (const auto& prototypes : memory.classes()) {
    if (prototypes.step != step - 1) continue;
    // Beside each other: uint8 [M, H, W, 3] to [H, M * W, 3]. Ten are enough to see, and
    // JPEG files cannot be of any width.
    const auto shown =
        prototypes.pixels.narrow(0, 0, std::min(kMostShown, prototypes.pixels.size(0)));
    const auto row = shown.permute({1, 0, 2, 3}).flatten(1, 2).contiguous();
    const int64_t height = row.size(0), width = row.size(1);
    const data::ImageView view{row.data_ptr<uint8_t>(), width, height, width * 3};
    write([&] {
      writer_.image("prototypes/" + class_names.at(static_cast<size_t>(prototypes.label)), step,
                    width, height, data::encode_jpeg(view));
    });
  }
}

}  // namespace proca::state
