#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "proca/compute/device.h"
#include "proca/config/options.h"
#include "proca/data/image_source.h"

namespace proca::app {

/// Options of the measurements of a network. Images, weights and their order come from
/// fixed seeds: the same work on every computer.
struct BenchOptions {
  std::string backbone = "resnet50";
  int64_t image_size = 224;
  int64_t batch_size = 32;
  int64_t iterations = 10;  ///< per repeat
  int64_t repeats = 5;      ///< the result is their median
  compute::ComputeOptions compute;
  bool json = false;

  void bind(OptionSet& options);
  /// Images of one kind per repeat.
  int64_t num_images() const { return batch_size * iterations; }
};

/// The result of one measurement, with one entry per repeat.
struct Measurement {
  std::string bench;
  int64_t images = 0;           ///< of one repeat
  std::vector<double> seconds;  ///< at least one
  std::vector<double> data_s;   ///< as many: how long it waited for images
  /// Options, and further figures.
  nlohmann::ordered_json about = nlohmann::ordered_json::object();
  nlohmann::ordered_json more = nlohmann::ordered_json::object();
};

/// Repeats that only warm up: algorithms are selected, a CUDA graph is captured.
inline constexpr int64_t kWarmUps = 2;

Measurement measure_decode(const std::vector<std::string>& paths, int64_t image_size,
                           int64_t repeats, const compute::ComputeOptions& compute);
Measurement measure_load(const BenchOptions& options);
Measurement measure_iteration(const BenchOptions& options);
Measurement measure_training(const BenchOptions& options);
Measurement measure_inference(const BenchOptions& options);

/// Options of `bench step`.
struct StepBenchOptions {
  std::string out;  ///< new folder
  std::string backbone = "resnet-small";
  int64_t image_size = 32;
  int64_t classes = 1100;
  int64_t memory_classes = 100;
  int64_t images = 320;
  int64_t epochs = 5;
  bool json = false;
  compute::ComputeOptions compute;
};
Measurement measure_step(const StepBenchOptions& options);

/// A measurement without results yet, `images` per repeat.
Measurement measurement_of(std::string bench, int64_t images, const BenchOptions& options);
/// `bench NAME` with the options of a network.
Command network_bench(std::string name, std::string summary,
                      Measurement (*measure)(const BenchOptions& options));

/// With device and versions, as every measurement prints it.
nlohmann::ordered_json to_json(const Measurement& measurement,
                               const compute::ComputeOptions& compute);
/// On standard output: one line of JSON, or a line per field.
void print(const Measurement& measurement, const compute::ComputeOptions& compute, bool as_json);

/// Waits for the work queued on a GPU.
/// Without a --log-level, only the results and what is wrong.
void quiet_unless_asked();

void synchronize(torch::Device device);

/// Noise, with labels 0, 1, ... in turn if `num_classes` is not 0.
class NoiseImages final : public data::ImageSource {
 public:
  NoiseImages(int64_t count, int64_t size, int64_t num_classes, std::string purpose);
  data::Image read(int64_t index) const override;
  std::vector<uint8_t> read_encoded(int64_t index) const override;

 private:
  int64_t size_;
  std::string purpose_;
};

/// A state with random weights, ready for its second step.
struct MadeUpState {
  std::string backbone;
  int64_t image_size = 0;
  int64_t classes = 0;
  int64_t memory_classes = 0;  ///< classes with ten prototypes each in memory
  int64_t source_images = 0;
};
/// Writes `folder/state` and `folder/source.pack`.
void write_state(const MadeUpState& made_up, const std::filesystem::path& folder);

/// Adds the times of the last `repeats` events of that name from the log of a state.
void add_epochs(Measurement& measurement, const std::filesystem::path& folder,
                const std::string& event, int64_t repeats);

}  // namespace proca::app
