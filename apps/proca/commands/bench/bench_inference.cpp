// Bringing images to the device, and prediction with batch-norm folded into the convolutions.

#include <memory>

#include "commands/bench/bench.h"
#include "commands/commands.h"
#include "core/stopwatch.h"
#include "models/inference/inference_network.h"
#include "proca/engine/inference.h"
#include "proca/engine/model_loading.h"

namespace proca::app {
namespace {

// Made-up images in memory, as evaluation shows them.
struct Images {
  explicit Images(const BenchOptions& options)
      : device(compute::set_up_libtorch(options.compute)),
        store(std::make_shared<NoiseImages>(options.num_images(), options.image_size, 0, "images"),
              {.resize = {.size = options.image_size},
               .cache_bytes = data::default_cache_bytes(),
               .threads = options.compute.resolved_threads()}),
        inference(engine::inference_options(options.compute)) {
    inference.batch_size = options.batch_size;
    preprocessing.image_size = options.image_size;
  }
  // Seconds to bring all of them to the device, batch by batch.
  double pass(const methods::StepContext::BatchFunction& function) const {
    const Stopwatch watch;
    engine::visit_images(store, preprocessing, inference, function);
    synchronize(device);
    return watch.seconds();
  }

  torch::Device device;
  data::ImageStore store;
  data::Preprocessing preprocessing;
  engine::InferenceOptions inference;
};

}  // namespace

Measurement measure_load(const BenchOptions& options) {
  const Images images(options);
  auto measurement = measurement_of("load", images.store.size(), options);
  for (int64_t i = -kWarmUps; i < options.repeats; ++i) {
    const double seconds = images.pass([](const torch::Tensor&, const torch::Tensor&) {});
    if (i < 0) continue;
    measurement.seconds.push_back(seconds);
    measurement.data_s.push_back(seconds);
  }
  return measurement;
}

// The images are on the device before the network is asked, so that only its own time
// counts; `evaluation_images_per_s` is the whole of it, from bytes in memory to answers.
Measurement measure_inference(const BenchOptions& options) {
  state::ModelDescription description;
  description.backbone = options.backbone;
  for (int64_t i = 0; i < 10; ++i) description.class_names.push_back(std::to_string(i));
  auto network = engine::build_network(description, 0);
  const Images images(options);
  network->to(images.device);
  std::vector<torch::Tensor> batches;
  const double loading_s = images.pass(
      [&](const torch::Tensor& batch, const torch::Tensor&) { batches.push_back(batch); });

  auto measurement = measurement_of("inference", images.store.size(), options);
  measurement.about["backbone"] = options.backbone;
  const torch::NoGradGuard no_grad;
  const auto predict = models::make_predictor(
      network, compute::inference_dtype(options.compute.precision, images.device));
  for (int64_t i = -kWarmUps; i < options.repeats; ++i) {
    const Stopwatch watch;
    for (const auto& batch : batches) predict(batch);
    synchronize(images.device);
    if (i < 0) continue;
    measurement.seconds.push_back(watch.seconds());
    measurement.data_s.push_back(0);
  }
  const Stopwatch watch;
  engine::predict_all(network, images.store, images.preprocessing, images.inference);
  measurement.more = {
      {"load_s", loading_s},
      {"evaluation_images_per_s", static_cast<double>(measurement.images) / watch.seconds()}};
  return measurement;
}

Command bench_load_command() {
  return network_bench("load", "batches from memory to the device: images/s", measure_load);
}

Command bench_inference_command() {
  return network_bench("inference", "prediction with folded batch-norm: images/s",
                       measure_inference);
}

}  // namespace proca::app
