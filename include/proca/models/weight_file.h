#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <torch/types.h>

namespace proca::models {

/// The content of a weight file: tensors by name, and metadata. Names follow torchvision
/// (`layer1.0.conv1.weight`, `fc.bias`).
struct WeightFile {
  std::map<std::string, torch::Tensor> tensors;  ///< on the CPU, in the file's own dtype
  std::map<std::string, std::string> metadata;   ///< empty for formats that carry none
  std::string origin;                            ///< the path, for messages
};

/// Reads a weight file in any format the project knows, told apart by content,
/// never by extension:
///
/// | format | written by |
/// |---|---|
/// | safetensors | proca, Hugging Face tools |
/// | `.pth`, zip container | `torch.save` since 1.6 |
/// | `.pth`, older stream | `torch.save` before 1.6 (torchvision's `resnet50-19c8e357.pth`) |
///
/// A `.pth` file is a Python pickle, which may contain arbitrary code. This reader
/// accepts tensors, dictionaries, numbers and strings only and refuses everything
/// else, so no file can run code. A checkpoint with its weights under `state_dict`,
/// `model` or `model_state_dict` is unwrapped, and the `module.` prefix that
/// DataParallel adds to every name is removed.
///
/// Sizes, offsets, overlaps, dtypes and shapes are checked against the file
/// before anything is allocated. Throws `InputError` naming the file and what is wrong.
WeightFile read_weight_file(const std::filesystem::path& path);

}  // namespace proca::models
