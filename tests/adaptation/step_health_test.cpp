#include "proca/adaptation/step_health.h"

#include <gtest/gtest.h>

#include "adaptation/golden_cases.h"

namespace proca::adaptation {
namespace {

using test::matrix;

HealthInput health_case(int64_t num_images, std::vector<int64_t> classes, const LabelTrust& trust) {
  HealthInput input;
  input.source_probabilities = torch::full({num_images, 4}, 0.25);
  input.source_probabilities.select(1, 1).fill_(0.4);
  input.current_probabilities = input.source_probabilities;
  input.labels = torch::ones({num_images}, torch::kInt64);
  input.classes = std::move(classes);
  input.trust = trust;
  return input;
}

TEST(StepHealthTest, VerdictFollowsTheExpectedAccuracy) {
  // confidence (1 + stability) / 2
  struct Case {
    double confidence, stability;
    Verdict verdict;
  };
  for (const auto& [confidence, stability, verdict] :
       {Case{0.9, 1.0, Verdict::kGood}, Case{0.6, 1.0, Verdict::kGood},
        Case{0.59, 1.0, Verdict::kDoubtful}, Case{0.9, 0.3, Verdict::kDoubtful},
        Case{0.35, 1.0, Verdict::kDoubtful}, Case{0.34, 1.0, Verdict::kRefused},
        Case{0.6, 0.1, Verdict::kRefused}}) {
    const auto health = judge_step(health_case(20, {0, 1}, {confidence, stability, 0.5}));
    EXPECT_EQ(health.verdict, verdict) << confidence << ", " << stability;
    EXPECT_DOUBLE_EQ(health.trust, confidence * (1 + stability) / 2);
    EXPECT_FALSE(health.reason.empty());
  }
}

TEST(StepHealthTest, OneClassForAllIsRefusedUnlessTheEvidenceIsForIt) {
  EXPECT_EQ(judge_step(health_case(20, {1}, {1, 1, 0.49})).verdict, Verdict::kRefused);
  EXPECT_EQ(judge_step(health_case(20, {1}, {1, 1, 0.5})).verdict, Verdict::kGood);
  // Of two classes there is nothing else to find.
  auto input = health_case(20, {1}, {1, 1, 0.3});
  input.source_probabilities = input.source_probabilities.slice(1, 0, 2);
  EXPECT_EQ(judge_step(input).verdict, Verdict::kGood);
}

TEST(StepHealthTest, FewImagesAreDoubtful) {
  EXPECT_EQ(judge_step(health_case(7, {0, 1}, {1, 1, 1})).verdict, Verdict::kDoubtful);
  EXPECT_EQ(judge_step(health_case(8, {0, 1}, {1, 1, 1})).verdict, Verdict::kGood);
  EXPECT_NE(judge_step(health_case(1, {1}, {1, 1, 1})).reason.find("one image"), std::string::npos);
}

TEST(StepHealthTest, CountsAgreementConfidenceAndChange) {
  auto input = health_case(4, {0, 1}, {1, 1, 1});
  input.labels[3] = 0;
  auto health = judge_step(input);
  EXPECT_EQ(health.images, 4);
  EXPECT_EQ(health.classes_found, 2);
  EXPECT_DOUBLE_EQ(health.agreement, 0.75);
  EXPECT_NEAR(health.confidence_before, 0.4, 1e-7);
  EXPECT_FALSE(health.changed.has_value());
  add_outcome(health, torch::tensor({1, 1, 1, 1}),
              matrix({{0.1, 0.9}, {0.1, 0.9}, {0.8, 0.2}, {0.6, 0.4}}));
  EXPECT_DOUBLE_EQ(*health.changed, 0.5);
  EXPECT_NEAR(*health.confidence_after, 0.8, 1e-12);
}

// Two groups of images; a third class gets 0.8 of all of them.
TEST(LabelTrustTest, LabelsThatHangOnTheCorrectionAreUnstable) {
  std::vector<std::vector<double>> probabilities, features;
  for (int i = 0; i < 20; ++i) {
    const bool first = i < 10;
    probabilities.push_back({first ? 0.19 : 0.01, first ? 0.01 : 0.19, 0.8});
    features.push_back({first ? 1.0 : 0.0, first ? 0.0 : 1.0});
  }
  const DetectionInput input{.probabilities = matrix(probabilities),
                             .source_prior = torch::full({3}, 1.0 / 3),
                             .features = matrix(features)};
  const auto trust_at = [&](double correction) {
    const DetectionOptions options{.rule = "cluster-mass", .correction = correction};
    const auto detected = detect_shared_classes(input, options);
    return measure_trust(input, options, detected,
                         label_by_evidence(input.features, detected).labels);
  };
  EXPECT_EQ(trust_at(0).stability, 0) << "all in class 2, which the full correction drops";
  EXPECT_EQ(trust_at(1).stability, 1);
  EXPECT_NEAR(trust_at(1).confidence, 0.95, 1e-3);
  EXPECT_NEAR(trust_at(1).evidence, 19.0 / 21, 1e-3);
  EXPECT_DOUBLE_EQ(trust_at(0).expected_accuracy(), trust_at(0).confidence / 2);
}

TEST(LabelTrustTest, BothModelsCountAlike) {
  // The source model's evidence says class 0 for all, the network's is certain of class 1 for
  // the second half.
  SharedClasses detected{.classes = {0, 1}};
  detected.evidence =
      torch::tensor({{0.9, 0.1, 0.0}, {0.6, 0.4, 0.0}}, torch::kFloat64).repeat_interleave(4, 0);
  const auto probabilities =
      torch::tensor({{0.9, 0.1, 0.0}, {0.0, 1.0, 0.0}}, torch::kFloat64).repeat_interleave(4, 0);
  const auto features = torch::eye(2, torch::kFloat64).repeat_interleave(4, 0);
  const auto labels = label_by_both(features, probabilities, detected, 0).labels;
  EXPECT_TRUE(torch::equal(labels, torch::tensor({0, 0, 0, 0, 1, 1, 1, 1}, torch::kInt64)));
}

}  // namespace
}  // namespace proca::adaptation
