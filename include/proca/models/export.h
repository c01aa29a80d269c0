#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "proca/models/classifier_network.h"

namespace proca::models {

/// What a program that only has the exported file must know to use it.
struct ExportInfo {
  std::vector<std::string> class_names;                ///< in the order of the network's outputs
  int64_t image_size = 224;                            ///< images are resized to this square
  std::array<double, 3> mean = {0.485, 0.456, 0.406};  ///< red, green, blue, of values in [0, 1]
  std::array<double, 3> std = {0.229, 0.224, 0.225};
  std::string neck = {};  ///< as `export_info_of` found it; the network's own is what is written
  /// Further entries for the metadata, as they are. Must not repeat a key of `export_metadata`.
  std::map<std::string, std::string> extra = {};

  /// Throws `InputError` unless there is one name per class of the network, the
  /// size is positive and so is every `std`.
  void validate(const ClassifierNetwork& network) const;
};

/// The metadata that every export contains, in any format:
///
/// | key          | value                                                             |
/// |--------------|-------------------------------------------------------------------|
/// | format       | `onnx`, `torchscript`; in safetensors `pt`, for Python's readers  |
/// | architecture | `resnet50`, or `script`                                           |
/// | stride_in    | `3x3` or `1x1`; absent for a script                               |
/// | neck         | layers before the classifier, as `Neck` words them; absent if none  |
/// | class_names  | JSON array of strings                                             |
/// | image_size   | `224`                                                             |
/// | mean, std    | JSON array of three numbers                                       |
/// | input        | the preparation of an image in words                              |
///
/// and `info.extra`. Values are text; in TorchScript's `proca.json` they are JSON. What this
/// function returns is that of safetensors. Exporting to safetensors is writing `network->state()`
/// with this metadata.
std::map<std::string, std::string> export_metadata(const ClassifierNetwork& network,
                                                   const ExportInfo& info);

/// What `export_metadata` wrote, read back from a weight file's metadata. Keys
/// that are absent leave the field at its default (`class_names` empty), so any
/// weight file will do. Throws `InputError` with `origin` when one is malformed.
ExportInfo export_info_of(const std::map<std::string, std::string>& metadata,
                          const std::string& origin);

/// Writes a network as TorchScript, for `torch.jit.load` in Python or C++:
///
/// | member                  | is                                              |
/// |-------------------------|-------------------------------------------------|
/// | `forward(images)`       | logits, float [N, K]                            |
/// | `probabilities(images)` | their softmax                                   |
/// | `features(images)`      | float [N, D]                                    |
/// | `class_names`           | list of strings                                 |
/// | `image_size`, `mean`, `std` | as in `ExportInfo`                          |
///
/// `images` is float [N, 3, H, W], scaled to [0, 1], minus `mean`, over `std`.
/// Parameters keep their torchvision names. A script backbone is kept whole
/// as the submodule `backbone`. The metadata is also in the archive as the extra
/// file `proca.json`. The module is saved on the CPU in evaluation mode; after
/// `train()` its batch-norms use the batch again, so it can be trained further.
///
/// Example (Python):
/// ```python
/// files = {"proca.json": ""}
/// model = torch.jit.load("model.pt", _extra_files=files)
/// name = model.class_names[model(image[None]).argmax()]
/// ```
///
/// The file appears complete or not at all. Throws `InputError` when it cannot
/// be written.
void export_torchscript(const std::filesystem::path& path, const ClassifierNetwork& network,
                        const ExportInfo& info);

/// Writes a network as ONNX (operator set 13), for ONNX Runtime and others:
///
/// | name | dtype, shape | |
/// |---|---|---|
/// | `images` | float [batch, 3, S, S] | in [0, 1], minus mean, over std; S is `image_size` |
/// | `logits` | float [batch, K] | |
/// | `probabilities` | float [batch, K] | their softmax |
///
/// The batch is of any size. Weights keep their torchvision names, and the
/// metadata is in `metadata_props`. The model is checked by ONNX's own checker
/// before it is written; the file appears complete or not at all.
///
/// Throws `InputError` for a script backbone, when the file cannot be written,
/// and always in a build without ONNX.
void export_onnx(const std::filesystem::path& path, const ClassifierNetwork& network,
                 const ExportInfo& info);

/// Whether this build can `export_onnx`.
bool has_onnx_export();

}  // namespace proca::models
