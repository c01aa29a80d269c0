#include "report/collect/event_reader.h"

#include <algorithm>
#include <vector>

#include "core/files/path.h"
#include "proca/core/file.h"

namespace proca::report {
namespace {

constexpr std::string_view kLossPrefix = "loss.";
constexpr JsonLimits kEventLimits{.max_bytes = 1 << 20};  // of one event

// Peaks are of a whole process: the largest is that of all steps.
void raise(Json& peak, const Json& event, const char* key) {
  if (!event.contains(key)) return;
  const auto bytes = whole_number(event.at(key));
  if (bytes > 0) peak = peak.is_null() ? bytes : std::max(whole_number(peak), bytes);
}

class EventReader {
 public:
  void take(const Json& event) {
    const auto name = event.at("event").get<std::string>();
    const auto time = event.at("time").get<std::string>();
    if (started_.empty()) started_ = time;
    ended_ = time;
    if (name == "start") machine_ = event;
    if (name == "epoch") take_source_epoch(event);
    if (name == "adapt_epoch") take_epoch(event);
    if (name == "step") take_step(event);
  }

  Events events() {
    Events events;
    events.steps = std::move(steps_);
    if (!points_.empty()) {
      // Terms may be added in later epochs: only now their number is known.
      for (auto& point : points_) {
        auto& values = point["values"];
        while (values.size() < terms_.size()) values.push_back(nullptr);
      }
      events.losses = {{"terms", terms_}, {"points", points_}};
    }
    if (!source_points_.empty()) events.training = {{"points", source_points_}};
    if (started_.empty()) return events;
    auto& machine = events.machine = Json::object();
    for (const auto* key : {"device", "threads", "libtorch", "precision"}) {
      if (machine_.contains(key)) machine[key] = machine_.at(key);
    }
    machine["started"] = started_;
    machine["ended"] = ended_;
    machine["seconds"] = seconds_;
    machine["peak_memory_bytes"] = peak_;
    machine["peak_gpu_memory_bytes"] = gpu_peak_;
    return events;
  }

 private:
  void take_source_epoch(const Json& event) {
    Json point = {{"epoch", whole_number(event.at("epoch"))}};
    for (const auto* key : {"loss", "holdout_accuracy_percent", "seconds"}) {
      if (event.contains(key) && !event.at(key).is_null()) point[key] = event.at(key).get<double>();
    }
    source_points_.push_back(std::move(point));
  }

  void take_epoch(const Json& event) {
    Json point = {{"step", whole_number(event.at("step"))},
                  {"epoch", whole_number(event.at("epoch"))}};
    std::vector<Json> values(terms_.size());
    for (const auto& [key, value] : event.items()) {
      if (!key.starts_with(kLossPrefix)) continue;
      const auto term = key.substr(kLossPrefix.size());
      const auto found = std::find(terms_.begin(), terms_.end(), term);
      const auto index = static_cast<size_t>(found - terms_.begin());
      if (found == terms_.end()) {
        terms_.push_back(term);
        values.emplace_back();
      }
      values[index] = value.get<double>();
    }
    point["values"] = values;
    for (const auto* key : {"images_per_s", "seconds", "data_s"}) {
      if (event.contains(key)) point[key] = event.at(key).get<double>();
    }
    points_.push_back(std::move(point));
  }

  void take_step(const Json& event) {
    Json step = {{"images", whole_number(event.at("images"))},
                 {"seconds", event.at("seconds").get<double>()}};
    seconds_ += event.at("seconds").get<double>();
    raise(step["peak_memory_bytes"], event, "peak_memory_bytes");
    raise(step["peak_gpu_memory_bytes"], event, "peak_gpu_memory_bytes");
    raise(peak_, event, "peak_memory_bytes");
    raise(gpu_peak_, event, "peak_gpu_memory_bytes");
    steps_[whole_number(event.at("step"))] = std::move(step);
  }

  std::vector<std::string> terms_;
  std::vector<Json> points_, source_points_;
  std::map<int64_t, Json> steps_;
  Json machine_ = Json::object();  // the last start
  Json peak_, gpu_peak_;
  std::string started_, ended_;
  double seconds_ = 0;
};

}  // namespace

Events read_events(const std::filesystem::path& path, int64_t sure_bytes,
                   std::optional<uint32_t> sure_crc) {
  EventReader reader;
  if (!is_there(path)) return reader.events();
  const auto text = read_text_file(path);
  const auto sure = std::string_view(text).substr(0, static_cast<size_t>(sure_bytes));
  if (sure_crc && crc32(bytes_of(sure)) != *sure_crc) {
    throw InputError(
        fmt::format("{}: is damaged: its checksum is not that in state.json", path.string()));
  }
  int64_t number = 0;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    const auto line = text.substr(begin, end - begin);
    if (static_cast<int64_t>(begin) >= sure_bytes && !Json::accept(line)) break;
    const auto where = fmt::format("{}:{}", path.string(), ++number);
    reading(where, [&] { reader.take(parse_json(line, where, kEventLimits)); });
  }
  return reader.events();
}

}  // namespace proca::report
