// safetensors. What is read can be written, and is then read as the same again.

#include "fuzz_input.h"
#include "models/weights/safetensors.h"
#include "proca/core/file.h"
#include "tensor_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  fuzz::refuse_or([&] {
    const auto file = models::decode_safetensors({data, size}, "input");
    fuzz::check_tensors(file, size);
    static const auto path =
        std::filesystem::temp_directory_path() / ("safetensors_fuzz." + std::to_string(::getpid()));
    models::write_safetensors(path, file.tensors, file.metadata, Sync::kLater);
    const auto again = models::read_safetensors(path);
    std::filesystem::remove(path);
    fuzz::require(again.metadata == file.metadata, "the same metadata");
    fuzz::require(again.tensors.size() == file.tensors.size(), "as many tensors");
    for (const auto& [name, tensor] : file.tensors) {
      fuzz::require(fuzz::same_bytes(again.tensors.at(name), tensor), "the same tensors");
    }
  });
  return 0;
}
