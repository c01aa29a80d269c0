#include "engine/watch/batch_problem.h"

#include "data/source/verify.h"
#include "proca/core/error.h"
#include "proca/data/image_source.h"

namespace proca::engine {

std::optional<std::string> batch_problem(const std::filesystem::path& folder,
                                         const data::LoadOptions& load, int64_t threads) {
  try {
    const auto images =
        data::open_images(folder, {.labels = data::Labels::kIgnored, .root = load.root});
    const auto report = data::verify_images(*images, threads);
    const auto num_bad = static_cast<int64_t>(report.bad.size());
    const bool skips_bad = load.on_bad_image == data::OnBadImage::kSkip;
    if (num_bad == 0 || (skips_bad && num_bad < report.num_images)) return std::nullopt;
    return report.bad.front().reason;
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace proca::engine
