// stream SOURCE STATE TARGET...
//
// Trains a classifier on SOURCE, a folder per class, and leaves it in STATE. Each TARGET is
// then a time step: its images are read into memory, as a camera might leave them there.

#include <filesystem>
#include <iostream>

#include <proca/compute/device.h>
#include <proca/core/error.h>
#include <proca/data/decode.h>
#include <proca/data/image_source.h>
#include <proca/engine/adapter.h>
#include <proca/engine/source_trainer.h>

namespace {

// Images of your own: a listing, and the pixels of each.
class ImagesInMemory : public proca::data::ImageSource {
 public:
  explicit ImagesInMemory(const std::filesystem::path& folder) {
    listing_.origin = folder.string();
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      images_.push_back(proca::data::read_image(entry.path()));
      listing_.samples.push_back({entry.path().string()});  // no label
    }
  }
  proca::data::Image read(int64_t index) const override { return images_.at(index); }
  std::vector<uint8_t> read_encoded(int64_t) const override {
    throw proca::InputError(listing_.origin + ": these images are pixels, not files");
  }
  bool is_in_memory() const override { return true; }

 private:
  std::vector<proca::data::Image> images_;
};

void run(const std::string& source, const std::string& state,
         const std::vector<std::string>& targets) {
  // All cores, TF32 on a GPU, a CUDA stream that graphs can be recorded on. Without this call
  // LibTorch keeps the settings that it has.
  proca::compute::set_up_libtorch({});

  proca::engine::SourceTrainingOptions training;
  training.source = source;
  training.backbone = "resnet-small";
  training.image_size = 32;
  training.epochs = 2;  // a real one takes more
  proca::engine::train_source(training, state);

  proca::engine::AdaptOptions options;
  options.epochs = 1;
  proca::engine::Adapter adapter(options, state);
  for (const auto& target : targets) {
    const auto outcome = adapter.adapt(std::make_shared<ImagesInMemory>(target));
    std::cout << "step " << outcome.step << ": " << outcome.num_images << " images\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: stream SOURCE STATE TARGET...\n";
    return 2;
  }
  try {
    run(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const proca::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
