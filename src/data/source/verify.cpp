#include "data/source/verify.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <tuple>

#include "core/parallel.h"
#include "core/progress.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"

namespace proca::data {
namespace {

struct Finding {
  std::optional<std::string> problem;
  int64_t width = 0;
  int64_t height = 0;
  uint32_t crc = 0;
};

// Images that look equal by size and checksum, split into those that are.
void add_duplicates(const ImageSource& source, std::vector<int64_t> candidates,
                    std::vector<std::vector<std::string>>& duplicates) {
  while (candidates.size() > 1) {
    const auto reference = upright(source.read(candidates.front())).pixels;
    std::vector<std::string> group;
    std::erase_if(candidates, [&](int64_t index) {
      if (upright(source.read(index)).pixels != reference) return false;
      group.push_back(source.listing().samples[static_cast<size_t>(index)].path);
      return true;
    });
    if (group.size() > 1) duplicates.push_back(std::move(group));
  }
}

}  // namespace

VerifyReport verify_images(const ImageSource& source, int64_t threads) {
  VerifyReport report;
  report.num_images = source.listing().size();
  std::vector<Finding> findings(static_cast<size_t>(report.num_images));
  std::atomic<int64_t> done{0};
  Progress progress("verifying", report.num_images, "images");
  parallel_for(report.num_images, threads, [&](int64_t i) {
    throw_if_interrupted("stopped while verifying");
    auto& finding = findings[static_cast<size_t>(i)];
    try {
      const auto image = upright(source.read(i));
      finding = {std::nullopt, image.width, image.height, crc32(image.pixels)};
    } catch (const InputError& error) {
      finding.problem = error.what();
    }
    progress.update(++done);
  });

  std::map<std::tuple<int64_t, int64_t, uint32_t>, std::vector<int64_t>> alike;
  bool first = true;
  for (int64_t i = 0; i < report.num_images; ++i) {
    const auto& finding = findings[static_cast<size_t>(i)];
    if (finding.problem) {
      report.bad.push_back(
          {source.listing().samples[static_cast<size_t>(i)].path, *finding.problem});
      continue;
    }
    alike[{finding.width, finding.height, finding.crc}].push_back(i);
    report.min_width = first ? finding.width : std::min(report.min_width, finding.width);
    report.min_height = first ? finding.height : std::min(report.min_height, finding.height);
    report.max_width = std::max(report.max_width, finding.width);
    report.max_height = std::max(report.max_height, finding.height);
    first = false;
  }
  for (auto& [key, indexes] : alike) add_duplicates(source, indexes, report.duplicates);
  std::sort(report.duplicates.begin(), report.duplicates.end());
  return report;
}

}  // namespace proca::data
