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

/// What the measurements of a network ask for. Images, weights and their order are made
/// up from fixed seeds: the same work on every machine.
struct BenchOptions {
  std::string backbone = "resnet50";
  int64_t image_size = 224;
  int64_t batch_size = 32;
  int64_t iterations = 10;  ///< per repeat
  int64_t repeats = 5;      ///< the median of which counts, after some that do not
  compute::ComputeOptions compute;
  bool json = false;

  void bind(OptionSet& options);
  /// Images of one kind per repeat.
  int64_t num_images() const { return batch_size * iterations; }
};

/// What came of one measurement. Repeat by repeat: how long it took, and how much of that
/// was waiting for images.
struct Measurement {
  std::string bench;
  int64_t images = 0;           ///< handled in one repeat
  std::vector<double> seconds;  ///< at least one
  std::vector<double> data_s;   ///< as many
  /// What it was about: options, then further figures.
  nlohmann::ordered_json about = nlohmann::ordered_json::object();
  nlohmann::ordered_json more = nlohmann::ordered_json::object();
};

/// Repeats that only warm up: they choose algorithms, allocate, record a graph.
inline constexpr int64_t kWarmUps = 2;

Measurement measure_decode(const std::vector<std::string>& paths, int64_t image_size,
                           int64_t repeats, const compute::ComputeOptions& compute);
Measurement measure_load(const BenchOptions& options);
Measurement measure_iteration(const BenchOptions& options);
Measurement measure_training(const BenchOptions& options);
Measurement measure_inference(const BenchOptions& options);

/// A step of the made-up stream, for `bench step`.
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

/// Nothing measured yet: so many images in a repeat, as the options say.
Measurement measurement_of(std::string bench, int64_t images, const BenchOptions& options);
/// `bench NAME` with the options of a network.
Command network_bench(std::string name, std::string summary,
                      Measurement (*measure)(const BenchOptions& options));

/// With machine and versions, as every measurement prints it.
nlohmann::ordered_json to_json(const Measurement& measurement,
                               const compute::ComputeOptions& compute);
/// On standard output: one line of JSON, or a line per field.
void print(const Measurement& measurement, const compute::ComputeOptions& compute, bool as_json);

/// Waits until the device has done what it was asked to.
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

/// A state that is about to make its second step, with random weights.
struct MadeUpState {
  std::string backbone;
  int64_t image_size = 0;
  int64_t classes = 0;
  int64_t memory_classes = 0;  ///< those with ten prototypes each in memory
  int64_t source_images = 0;
};
/// Writes `folder/state` and `folder/source.pack`.
void write_state(const MadeUpState& made_up, const std::filesystem::path& folder);

/// A folder for temporary files, which goes with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Takes time and waiting from the last `repeats` events of that name in a state's log.
void add_epochs(Measurement& measurement, const std::filesystem::path& state,
                const std::string& event, int64_t repeats);

}  // namespace proca::app
