// Tests the workloads of published networks: their parameters and multiplications are those of the
// papers, and their time is the published one.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "predict/published_models.h"

namespace rota::bench {
namespace {

struct PublishedSize {
  std::string name;
  std::size_t layers;
  std::size_t parameters;
  double multiplications;  // Of one image.
  double images_per_second;
};

// Inception V3 is counted without its auxiliary head.
const PublishedSize kSizes[] = {
    {"inception-v3", 95, 23'834'568, 5'713'216'096, 134.4},
    {"resnet-101", 105, 44'549'160, 7'570'194'432, 119.4},
    {"vgg-16", 16, 138'357'544, 15'470'264'320, 130.9},
};

TEST(PublishedModels, HaveTheParametersOfTheirPapers) {
  ASSERT_EQ(published_models().size(), std::size(kSizes));
  for (const PublishedSize& size : kSizes) {
    ASSERT_TRUE(is_published(size.name));
    const Workload workload = published_workload(size.name);
    EXPECT_EQ(workload.name, size.name);
    EXPECT_EQ(workload.gradients.size(), size.layers) << size.name;
    EXPECT_EQ(gradient_bytes_of(workload), size.parameters * sizeof(float)) << size.name;
  }
  EXPECT_FALSE(is_published("vgg-19"));
}

TEST(PublishedModels, MultiplyAsOftenAsTheirPapersSay) {
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    const PublishedModel& model = published_models()[i];
    ASSERT_EQ(model.name, kSizes[i].name);
    double multiplications = 0;
    for (const ModelLayer& layer : model.layers()) multiplications += layer.multiplications;
    EXPECT_EQ(multiplications, kSizes[i].multiplications) << model.name;
  }
}

TEST(PublishedModels, TakeThePublishedTime) {
  for (const PublishedSize& size : kSizes) {
    const Workload workload = published_workload(size.name);
    const double seconds = 64 / size.images_per_second;
    EXPECT_NEAR(alone_seconds_of(workload), seconds, 1e-9) << size.name;
    EXPECT_NEAR(workload.forward_seconds, seconds / 3, 1e-9) << size.name;
  }
}

TEST(PublishedModels, HaveTheirLayersInForwardOrder) {
  const Workload vgg = published_workload("vgg-16");
  EXPECT_EQ(vgg.gradients.front().name, "conv1.1");
  EXPECT_EQ(vgg.gradients.front().count, 27u * 64 + 64);
  EXPECT_EQ(vgg.gradients[13].name, "fc6");
  EXPECT_EQ(vgg.gradients[13].count, 25'088u * 4096 + 4096);
  EXPECT_EQ(vgg.gradients.back().count, 4096u * 1000 + 1000);
}

// A file needs a time for each gradient, and people need a name for each.
TEST(PublishedModels, CanBeWrittenAsFiles) {
  for (const PublishedSize& size : kSizes) {
    const Workload workload = published_workload(size.name);
    EXPECT_EQ(parse_workload("copy", to_text(workload)), workload) << size.name;
    std::set<std::string> names;
    for (const Workload::Gradient& gradient : workload.gradients) names.insert(gradient.name);
    EXPECT_EQ(names.size(), workload.gradients.size()) << size.name;
  }
}

}  // namespace
}  // namespace rota::bench
