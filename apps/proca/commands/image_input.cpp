#include "commands/image_input.h"

namespace proca::app {

void ModelInputOptions::bind(OptionSet& set) {
  model.bind(set);
  set.bind("resize", resize, "size before the crop; 0 = the model's", 0, 8192);
  set.bind_choice<data::ResizeOptions::Mode>(
      "resize-mode", resize_mode, "resize to exactly size x size, or the shorter side",
      {{"exact", data::ResizeOptions::Mode::kExact},
       {"shorter-side", data::ResizeOptions::Mode::kShorterSide}});
  set.bind_choice<std::optional<data::Orientation>>(
      "orientation", orientation,
      "turn images as their EXIF orientation says, or leave them as stored; auto = the model's",
      {{"auto", std::nullopt},
       {"upright", data::Orientation::kUpright},
       {"stored", data::Orientation::kStored}});
  set.bind("crop", crop, "pixels the network sees, cut from the centre; 0 = the model's", 0, 8192);
  set.bind("batch-size", batch_size, "images per network call; 0 = as suits the device", 0, 65536);
  load.bind(set);
  compute.bind(set);
}

ModelInput ModelInputOptions::load_model() const {
  ModelInput input{.model = model.load(), .preprocessing = {}};
  auto& preprocessing = input.preprocessing = input.model.description.preprocessing;
  if (crop > 0) preprocessing.image_size = crop;
  if (resize > 0) preprocessing.resize.size = resize;
  if (resize_mode != data::ResizeOptions::Mode::kExact) preprocessing.resize.mode = resize_mode;
  if (orientation) preprocessing.resize.orientation = *orientation;
  preprocessing.validate();
  input.model.network->to(compute::set_up_libtorch(compute));
  return input;
}

data::ImageStore ModelInputOptions::make_store(std::shared_ptr<const data::ImageSource> source,
                                               const data::Preprocessing& preprocessing) const {
  return data::without_cache(load).make_store(std::move(source), preprocessing.resolved_resize(),
                                              compute.resolved_threads());
}

engine::InferenceOptions ModelInputOptions::inference() const {
  auto options = engine::inference_options(compute);
  if (batch_size > 0) options.batch_size = batch_size;
  return options;
}

}  // namespace proca::app
