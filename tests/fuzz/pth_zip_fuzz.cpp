// `.pth` files as torch.save has written them since version 1.6. The checksums of the files
// in the archive are made right first: no mutation would get past them.

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/weights/pth/pth_reader.h"
#include "proca/core/file.h"
#include "tensor_checks.h"

namespace proca {
namespace {

template <typename T>
T number_at(const std::vector<uint8_t>& file, size_t place) {
  T value;
  std::memcpy(&value, &file[place], sizeof value);
  return value;
}

// Every entry of the directory points to a local header, behind which the content lies.
void stamp_checksums(std::vector<uint8_t>& file) {
  constexpr size_t kEntry = 46;
  constexpr size_t kLocal = 30;
  const std::vector<uint8_t> signature = {'P', 'K', 1, 2};
  for (auto found = file.begin();; ++found) {
    found = std::search(found, file.end(), signature.begin(), signature.end());
    if (file.end() - found < static_cast<std::ptrdiff_t>(kEntry)) return;
    const auto entry = static_cast<size_t>(found - file.begin());
    const size_t size = number_at<uint32_t>(file, entry + 24);
    const size_t local = number_at<uint32_t>(file, entry + 42);
    if (local + kLocal > file.size()) continue;
    const size_t content = local + kLocal + number_at<uint16_t>(file, local + 26) +
                           number_at<uint16_t>(file, local + 28);
    if (content > file.size() || size > file.size() - content) continue;
    const auto crc = crc32(std::span<const uint8_t>(file).subspan(content, size));
    std::memcpy(&file[entry + 16], &crc, sizeof crc);
    // Writers that stream leave it at 0 there.
    if (number_at<uint32_t>(file, local + 14) != 0)
      std::memcpy(&file[local + 14], &crc, sizeof crc);
  }
}

}  // namespace
}  // namespace proca

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proca;
  std::vector<uint8_t> file(data, data + size);
  stamp_checksums(file);
  fuzz::refuse_or([&] { fuzz::check_tensors(models::read_pth_zip(file, "input"), size); });
  return 0;
}
