#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/nets/resnet.h"
#include "proca/core/error.h"
#include "proca/models/export.h"

namespace proca::models {

void ExportInfo::validate(const ClassifierNetwork& network) const {
  if (static_cast<int64_t>(class_names.size()) != network->num_classes()) {
    throw InputError(
        fmt::format("an export needs one name per class: there are {} names for {} classes",
                    class_names.size(), network->num_classes()));
  }
  if (image_size <= 0) {
    throw InputError(
        fmt::format("the image size of an export must be positive, not {}", image_size));
  }
  if (std::any_of(std.begin(), std.end(), [](double value) { return !(value > 0); })) {
    throw InputError(
        fmt::format("the standard deviations of an export must be positive, not {}, {}, {}", std[0],
                    std[1], std[2]));
  }
}

std::map<std::string, std::string> export_metadata(const ClassifierNetwork& network,
                                                   const ExportInfo& info) {
  info.validate(network);
  std::map<std::string, std::string> metadata = {
      {"format", "pt"},
      {"architecture", "script"},
      {"class_names", nlohmann::json(info.class_names).dump()},
      {"image_size", std::to_string(info.image_size)},
      {"mean", nlohmann::json(info.mean).dump()},
      {"std", nlohmann::json(info.std).dump()},
      {"input",
       fmt::format("RGB in [0,1], resized to {0}x{0}, minus mean, over std", info.image_size)},
  };
  if (const auto* resnet = dynamic_cast<const ResNet*>(network->backbone().get())) {
    metadata["architecture"] = resnet->layout().name;
    metadata["stride_in"] = resnet->layout().stride_in == StrideIn::k1x1 ? "1x1" : "3x3";
  }
  if (const auto neck = network->neck_layout(); !neck.empty()) metadata["neck"] = neck;
  for (const auto& [key, value] : info.extra) {
    TORCH_CHECK(metadata.emplace(key, value).second, "metadata key ", key, " is taken");
  }
  return metadata;
}

ExportInfo export_info_of(const std::map<std::string, std::string>& metadata,
                          const std::string& origin) {
  ExportInfo info;
  const auto read = [&](const std::string& key, auto& field) {
    const auto entry = metadata.find(key);
    if (entry == metadata.end()) return;
    try {
      nlohmann::json::parse(entry->second).get_to(field);
    } catch (const nlohmann::json::exception&) {
      throw InputError(
          fmt::format("{}: metadata \"{}\" cannot be read: \"{}\"", origin, key, entry->second));
    }
  };
  read("class_names", info.class_names);
  if (const auto neck = metadata.find("neck"); neck != metadata.end()) info.neck = neck->second;
  read("image_size", info.image_size);
  read("mean", info.mean);
  read("std", info.std);
  if (info.image_size < 1) {
    throw InputError(fmt::format("{}: metadata \"image_size\" is not positive", origin));
  }
  return info;
}

}  // namespace proca::models
