#include "proca/models/named_tensors.h"

namespace proca::models {

void put_part(NamedTensors& whole, const std::string& prefix, const NamedTensors& part) {
  for (const auto& [name, tensor] : part) whole[prefix + name] = tensor;
}

NamedTensors part_of(const NamedTensors& whole, const std::string& prefix) {
  NamedTensors part;
  for (auto entry = whole.lower_bound(prefix);
       entry != whole.end() && entry->first.starts_with(prefix); ++entry) {
    part[entry->first.substr(prefix.size())] = entry->second;
  }
  return part;
}

}  // namespace proca::models
