#include "commands/run_report.h"

#include <fmt/format.h>

#include "core/files/read_json.h"
#include "core/files/text_checksum.h"
#include "proca/core/file.h"
#include "protocol/metrics_json.h"
#include "report/tables/run_table.h"

namespace proca::app {
namespace {

// Mean and standard deviation in percent of one figure over the seeds.
Json spread(const std::vector<experiments::SeedResult>& results,
            double protocol::RunMetrics::*figure) {
  std::vector<double> values;
  for (const auto& result : results) values.push_back(result.metrics.*figure * 100);
  const auto [mean, std] = protocol::mean_std(values);
  return {{"mean", mean}, {"std", std}};
}

}  // namespace

std::string results_json(const experiments::RunOptions& options,
                         const std::vector<experiments::SeedResult>& results) {
  Json json{
      {"preset", options.preset},
      {"source", options.source},
      {"target", options.target},
      {"method", options.adapt.method.name()},
      {"final_accuracy_percent", spread(results, &protocol::RunMetrics::final_accuracy)},
      {"mean_accuracy_percent", spread(results, &protocol::RunMetrics::mean_accuracy)},
      {"final_s1_accuracy_percent", spread(results, &protocol::RunMetrics::final_s1_accuracy)},
      {"seeds", Json::array()}};
  for (const auto& result : results) {
    json["seeds"].push_back(
        {{"seed", result.seed}, {"metrics", Json::parse(protocol::to_json(result.metrics))}});
  }
  return text_of(json, 2) + "\n";
}

std::string results_text(const std::string& title,
                         const std::vector<experiments::SeedResult>& results) {
  std::vector<protocol::RunMetrics> metrics;
  for (const auto& result : results) metrics.push_back(result.metrics);
  return report::run_table(title, metrics) + "\n" + report::group_matrix(metrics);
}

void write_results(const std::filesystem::path& folder, const std::string& json,
                   const std::string& text) {
  write_file(folder / "results.json", append_json_checksum(json));
  write_file(folder / "results.txt", text);
}

}  // namespace proca::app
