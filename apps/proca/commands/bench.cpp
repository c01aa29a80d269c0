#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/nn/functional/loss.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "proca/core/parallel.h"
#include "proca/core/stopwatch.h"
#include "proca/data/image_store.h"
#include "proca/engine/device.h"
#include "proca/engine/model_loading.h"
#include "proca/engine/sgd.h"
#include "proca/models/inference_network.h"

namespace proca::app {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print(const nlohmann::ordered_json& result, bool as_json) {
  if (as_json) {
    std::cout << result.dump() << '\n';
    return;
  }
  for (const auto& [name, value] : result.items()) {
    std::cout << fmt::format("{:<24} {}\n", name,
                             value.is_number_float() ? fmt::format("{:.1f}", value.get<double>())
                             : value.is_string()     ? value.get<std::string>()
                                                     : value.dump());
  }
}

struct DecodeOptions {
  std::vector<std::string> paths;
  int64_t image_size = 224;
  int64_t threads = available_cores();
  bool json = false;
};

void bench_decode(const DecodeOptions& options) {
  const std::shared_ptr source = data::open_images(options.paths, data::OpenOptions{});
  const Stopwatch watch;
  const data::ImageStore store(source, {.resize = {.size = options.image_size},
                                        .cache_bytes = data::default_cache_bytes(),
                                        .threads = options.threads});
  const double seconds = watch.seconds();
  print({{"images", store.size()},
         {"threads", options.threads},
         {"image_size", options.image_size},
         {"seconds", seconds},
         {"images_per_s", static_cast<double>(store.size()) / seconds},
         {"cached_mb", static_cast<double>(store.cached_bytes()) / 1e6}},
        options.json);
}

struct NetworkOptions {
  std::string backbone = "resnet50";
  int64_t image_size = 224;
  int64_t batch_size = 32;
  int64_t repeats = 5;
  engine::ComputeOptions compute;
  bool json = false;
};

void synchronize(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

// Median images/s of `work`, which handles one batch.
double throughput(const NetworkOptions& options, torch::Device device,
                  const std::function<void()>& work) {
  work();  // The first call chooses algorithms and allocates.
  synchronize(device);
  std::vector<double> rates;
  for (int64_t i = 0; i < options.repeats; ++i) {
    const Stopwatch watch;
    work();
    synchronize(device);
    rates.push_back(static_cast<double>(options.batch_size) / watch.seconds());
  }
  return median(rates);
}

void bench_network(const NetworkOptions& options) {
  const auto device = engine::prepare_compute(options.compute);
  engine::ModelDescription description;
  description.backbone = options.backbone;
  for (int i = 0; i < 10; ++i) description.class_names.push_back(std::to_string(i));
  auto network = engine::build_network(description, 0);
  network->to(device);
  const auto size = options.image_size;
  const auto images =
      torch::ones({options.batch_size, size, size, 3}, device).permute({0, 3, 1, 2});
  const auto labels =
      torch::zeros({options.batch_size}, torch::dtype(torch::kInt64).device(device));

  engine::Sgd optimizer({{network->parameters(), 1e-3, 5e-4}}, 0.9);
  network->train();
  const double training = throughput(options, device, [&] {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(network->forward(images).logits, labels).backward();
    optimizer.step();
  });
  const torch::NoGradGuard no_grad;
  const auto predict =
      models::make_predictor(network, engine::inference_dtype(options.compute.precision, device));
  const double inference = throughput(options, device, [&] { predict(images); });
  print({{"backbone", options.backbone},
         {"device", device.str()},
         {"threads", options.compute.resolved_threads()},
         {"batch_size", options.batch_size},
         {"training_images_per_s", training},
         {"inference_images_per_s", inference}},
        options.json);
}

}  // namespace

Command bench_decode_command() {
  return {"bench decode", "decode and resize images: images/s", [](OptionSet& set) {
            const auto options = std::make_shared<DecodeOptions>();
            set.bind_positional("path", options->paths, "folders, list files or packed files");
            set.require();
            set.bind("image-size", options->image_size, "pixels, square", 1, 8192);
            set.bind("threads", options->threads, "threads that decode", 1, 4096);
            set.bind("json", options->json, "print JSON");
            return [options] { bench_decode(*options); };
          }};
}

Command bench_network_command() {
  return {"bench network", "train and predict with made-up images: images/s", [](OptionSet& set) {
            const auto options = std::make_shared<NetworkOptions>();
            set.bind("backbone", options->backbone, "network to time", "NAME");
            set.bind("image-size", options->image_size, "pixels, square", 8, 4096);
            set.bind("batch-size", options->batch_size, "images per iteration", 2, 65536);
            set.bind("repeats", options->repeats, "iterations to take the median of", 1, 10000);
            options->compute.bind(set);
            set.bind("json", options->json, "print JSON");
            return [options] { bench_network(*options); };
          }};
}

}  // namespace proca::app
