// What the measurements have in common: how they are printed and what they work on.

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <torch/cuda.h>

#include "commands/bench/bench.h"
#include "data/source/packed_file.h"
#include "proca/adaptation/prototype_memory.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/log.h"
#include "proca/core/random.h"
#include "proca/core/version.h"
#include "proca/engine/model_loading.h"
#include "state/state_files.h"
#include "state/state_writer.h"
#include "version.h"

namespace proca::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string shown(const Json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    return fmt::format("{:.{}f}", number, number < 10 ? 3 : 1);
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

void BenchOptions::bind(OptionSet& options) {
  options.bind("backbone", backbone, "network to time", "BACKBONE");
  options.bind("image-size", image_size, "pixels, square", 8, 4096);
  options.bind("batch-size", batch_size, "images of one kind per iteration", 2, 65536);
  options.bind("iterations", iterations, "per repeat", 1, 1'000'000);
  options.bind("repeats", repeats, "to take the median of", 1, 10'000);
  compute.bind(options);
  options.bind("json", json, "print JSON");
}

Measurement measurement_of(std::string bench, int64_t images, const BenchOptions& options) {
  return {.bench = std::move(bench),
          .images = images,
          .seconds = {},
          .data_s = {},
          .about = {{"image_size", options.image_size},
                    {"batch_size", options.batch_size},
                    {"iterations", options.iterations}}};
}

Command network_bench(std::string name, std::string summary,
                      Measurement (*measure)(const BenchOptions& options)) {
  return {"bench " + name, std::move(summary), [measure](OptionSet& set) {
            const auto options = std::make_shared<BenchOptions>();
            options->bind(set);
            return [options, measure] {
              quiet_unless_asked();
              compute::set_up_libtorch(options->compute);
              print(measure(*options), options->compute, options->json);
            };
          }};
}

void quiet_unless_asked() {
  if (log_level() == LogLevel::kInfo) set_log_level(LogLevel::kWarning);
}

void synchronize(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

Json to_json(const Measurement& measurement, const compute::ComputeOptions& compute) {
  const auto device = compute::choose_device(compute);
  std::vector<double> rates, compute_s;
  for (size_t i = 0; i < measurement.seconds.size(); ++i) {
    rates.push_back(static_cast<double>(measurement.images) / measurement.seconds[i]);
    compute_s.push_back(measurement.seconds[i] - measurement.data_s[i]);
  }
  Json json{
      {"bench", measurement.bench},
      {"program", library_version()},
      {"libtorch", libtorch_version()},
      {"device", device.str()},
      {"device_name", compute::device_name(device)},
      {"threads", compute.resolved_threads()},
      {"precision",
       std::string(compute::word_of(compute::effective_precision(compute.precision, device)))}};
  json.update(measurement.about);
  json.update(Json{{"images", measurement.images},
                   {"repeats", measurement.seconds.size()},
                   {"seconds", median(measurement.seconds)},
                   {"images_per_s", median(rates)},
                   {"images_per_s_min", *std::min_element(rates.begin(), rates.end())},
                   {"images_per_s_max", *std::max_element(rates.begin(), rates.end())},
                   {"data_s", median(measurement.data_s)},
                   {"compute_s", median(compute_s)}});
  json.update(measurement.more);
  json["peak_memory_mb"] = static_cast<double>(compute::peak_host_bytes()) / 1e6;
  json["peak_device_memory_mb"] =
      device.is_cuda() ? Json(static_cast<double>(compute::peak_device_bytes(device)) / 1e6)
                       : Json(nullptr);
  return json;
}

void print(const Measurement& measurement, const compute::ComputeOptions& compute, bool as_json) {
  const auto result = to_json(measurement, compute);
  if (as_json) {
    std::cout << result.dump() << '\n';
    return;
  }
  for (const auto& [name, value] : result.items()) {
    std::cout << fmt::format("{:<24} {}\n", name, shown(value));
  }
}

NoiseImages::NoiseImages(int64_t count, int64_t size, int64_t num_classes, std::string purpose)
    : size_(size), purpose_(std::move(purpose)) {
  listing_.origin = purpose_;
  for (int64_t i = 0; i < num_classes; ++i) {
    listing_.class_names.push_back(fmt::format("class {:05}", i));
  }
  for (int64_t i = 0; i < count; ++i) {
    listing_.samples.push_back({.path = fmt::format("{} {}", purpose_, i),
                                .label = num_classes > 0 ? i % num_classes : data::kNoLabel});
  }
}

data::Image NoiseImages::read(int64_t index) const {
  auto image = data::Image::black(size_, size_);
  RandomStream random(0, purpose_, static_cast<uint64_t>(index));
  auto& pixels = image.pixels;
  for (size_t i = 0; i < pixels.size(); i += sizeof(uint64_t)) {
    const uint64_t bytes = random();
    std::memcpy(pixels.data() + i, &bytes, std::min(sizeof(bytes), pixels.size() - i));
  }
  return image;
}

std::vector<uint8_t> NoiseImages::read_encoded(int64_t) const {
  throw InputError(purpose_ + ": made-up images are not files");
}

void write_state(const MadeUpState& made_up, const fs::path& folder) {
  const auto source = folder / "source.pack";
  data::write_packed_file(
      source, NoiseImages(made_up.source_images, made_up.image_size, made_up.classes, "source"),
      {.image_size = made_up.image_size});
  state::Manifest manifest;
  manifest.phase = state::Phase::kReady;
  manifest.source = fs::absolute(source).string();
  manifest.model.backbone = made_up.backbone;
  manifest.model.preprocessing.image_size = made_up.image_size;
  for (int64_t i = 0; i < made_up.classes; ++i) {
    manifest.model.class_names.push_back(fmt::format("class {:05}", i));
  }
  manifest.step = 1;
  manifest.method = "proca";
  const auto network = engine::build_network(manifest.model, 0);
  adaptation::PrototypeMemory memory;
  const int64_t size = made_up.image_size;
  for (int64_t i = 0; i < made_up.memory_classes; ++i) {
    memory.put({.label = made_up.classes - 1 - i,
                .score = 1.0,
                .step = 0,
                .pixels = torch::full({10, size, size, 3}, i % 256, torch::kUInt8),
                .soft_labels =
                    torch::full({10, made_up.classes}, 1.0 / static_cast<double>(made_up.classes)),
                .origins = std::vector<std::string>(10, "made up")});
  }
  state::StateWriter writer(folder / "state");
  writer.put_text(state::kConfigFile, "");
  writer.put_tensors(state::kSourceFile, network->state(), {});
  writer.put_tensors(state::kModelFile, network->state(), {});
  if (made_up.memory_classes > 0) writer.put_tensors(state::kMemoryFile, memory.save(), {});
  writer.commit(manifest);
}

void add_epochs(Measurement& measurement, const fs::path& folder, const std::string& event,
                int64_t repeats) {
  std::vector<Json> epochs;
  const auto log = folder / state::kEventsFile;
  std::istringstream lines(read_text_file(log));
  for (std::string line; std::getline(lines, line);) {
    auto entry = Json::parse(line);
    if (entry.at("event").get<std::string>() == event) epochs.push_back(std::move(entry));
  }
  if (std::ssize(epochs) < repeats) {
    throw Error(fmt::format("{}: has {} events \"{}\", not {}", log.string(), epochs.size(), event,
                            repeats));
  }
  for (auto i = epochs.size() - static_cast<size_t>(repeats); i < epochs.size(); ++i) {
    measurement.seconds.push_back(epochs[i].at("seconds").get<double>());
    measurement.data_s.push_back(epochs[i].at("data_s").get<double>());
  }
}

}  // namespace proca::app
