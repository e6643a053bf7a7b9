// Applies all rules together to flawless manifests, and to files that are not manifests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "manifest/spoil.h"

namespace rota::manifest {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Check, FindsNothingWrongWithWhatIsRendered) {
  for (const Kind kind : {Kind::kJob, Kind::kJobSet, Kind::kTrainJob, Kind::kStatefulSet}) {
    SCOPED_TRACE(to_text(kind));
    const Manifest manifest(rendered(kind));
    EXPECT_THAT(check(manifest), IsEmpty());
    EXPECT_EQ(manifest.workloads.size(), 1U);
  }
}

TEST(Check, SaysWhereNothingStartsRotarun) {
  Objects objects = rendered(Kind::kJob);
  remove_object("Job")(objects);
  const Findings findings = check(Manifest(std::move(objects)));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].text, ::testing::StartsWith("nothing here starts rotarun"));
}

TEST(Check, LeavesOtherProgramsAlone) {
  Objects objects = rendered(Kind::kStatefulSet);
  Tree other = of_kind(objects, "StatefulSet");
  other["spec"]["template"]["spec"] = {{"containers", Tree::array({{{"name", "db"}}})}};
  other["spec"].erase("podManagementPolicy");
  objects.push_back(other);
  EXPECT_THAT(check(Manifest(std::move(objects))), IsEmpty());
}

// Each pod finds itself and the others in the list by name. The rules about Services and ordinals
// do not apply.
TEST(Check, TakesAListOfHosts) {
  Objects objects = rendered(Kind::kStatefulSet);
  set("StatefulSet", "/spec/ordinals", {{"start", 1}})(objects);
  Tree& variables = of_kind(objects, "StatefulSet")[Pointer(kJobContainer + "/env")];
  variables = Tree::array({{{"name", "ROTA_HOSTS"},
                            {"value",
                             "mnist-1.mnist:1,mnist-2.mnist:3,mnist-3.mnist:2,"
                             "mnist-4.mnist:2,mnist-chief-0.mnist-chief"}}});
  EXPECT_THAT(check(Manifest(std::move(objects))), IsEmpty());
}

// If ROTA_HOSTS lists nodes, no ROTA_SERVICE is needed, and no ROTA_HOST for a pod on the network
// of its node.
TEST(Check, TakesAListOfNodes) {
  Objects objects = rendered(Kind::kJob);
  set("Job", kJobContainer + "/env/0/value", "node1,node2,node3,node4")(objects);
  drop_element("Job", kJobContainer + "/env", 2)(objects);
  be_on_host_network(objects);
  drop_element("Job", kJobContainer + "/env", 0)(objects);
  EXPECT_THAT(check(Manifest(std::move(objects))), IsEmpty());
}

TEST(Check, TakesARuntimeOfTheCluster) {
  Objects objects = rendered(Kind::kTrainJob);
  be_of_the_cluster(objects);
  const Manifest manifest(std::move(objects));
  EXPECT_EQ(manifest.workloads.size(), 1U);
  EXPECT_THAT(check(manifest), IsEmpty());
}

// Four hundred jobs have more findings than a person reads.
TEST(Check, EndsAfterAThousandFindings) {
  Objects objects;
  for (int i = 0; i < 400; ++i) {
    Objects more = rendered(Kind::kJob);
    Tree& job = of_kind(more, "Job");
    job["metadata"]["name"] = "job" + std::to_string(i);
    job["spec"]["template"]["spec"].erase("enableServiceLinks");
    objects.push_back(job);
  }
  const Findings findings = check(Manifest(std::move(objects)));
  ASSERT_EQ(findings.size(), 1001U);
  EXPECT_EQ(findings.back(),
            error("there are more errors: correct these 1000 first, and check again"));
}

TEST(Check, SaysNoMoreOfALongNameThanIsRead) {
  Objects objects = rendered(Kind::kJob);
  of_kind(objects, "Job")["metadata"]["name"] = std::string(1 << 20, 'n');
  for (const Finding& finding : check(Manifest(std::move(objects)))) {
    EXPECT_LT(finding.text.size(), 3000U);
  }
}

// Labels and selectors may have any order.
TEST(Check, FindsAServiceByAnyOfItsLabels) {
  Objects objects = rendered(Kind::kJob);
  set("Job", "/spec/template/metadata/labels", {{"c", "3"}, {"b", "2"}, {"a", "1"}})(objects);
  set("Service", "/spec/selector", {{"b", "2"}, {"c", "3"}})(objects);
  EXPECT_THAT(check(Manifest(objects)), IsEmpty());
  set("Service", "/spec/selector", {{"b", "2"}, {"c", "4"}})(objects);
  EXPECT_THAT(check(Manifest(objects)),
              Contains(Field(&Finding::text, HasSubstr("which selects none of the pods"))));
}

// A Service in another namespace does not count.
TEST(Check, LooksForAServiceInTheSameNamespace) {
  Objects objects = rendered(Kind::kJob);
  set("Service", "/metadata/namespace", "elsewhere")(objects);
  const Findings findings = check(Manifest(std::move(objects)));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].text, ::testing::HasSubstr("that Service is in none of these files"));
}

void expect_finding(Kind kind, const std::function<void(Objects&)>& spoil,
                    const std::string& text) {
  SCOPED_TRACE(text);
  Objects objects = rendered(kind);
  spoil(objects);
  const Findings findings = check(Manifest(std::move(objects)));
  EXPECT_THAT(findings, Contains(Field(&Finding::text, HasSubstr(text))));
}

auto slots(const std::string& value) { return set("Job", kJobContainer + "/env/1/value", value); }

TEST(Check, GetsOverSlotsThatNoHostHas) {
  expect_finding(Kind::kJob, slots("0"), "env: ROTA_SLOTS is 0, but a host has 1 to 4096");
  expect_finding(Kind::kJob, slots("4097"), "ROTA_SLOTS is 4097, but");
  expect_finding(Kind::kJob, slots("9223372036854775808"),
                 "ROTA_SLOTS is 9223372036854775808, but");
  expect_finding(Kind::kJob, slots("two"), "ROTA_SLOTS is two, but");
  expect_finding(Kind::kJob, slots("-1"), "ROTA_SLOTS is -1, but");
  expect_finding(Kind::kJob, slots(""), "ROTA_SLOTS is empty, but");
  expect_finding(Kind::kTrainJob, set("TrainJob", "/spec/trainer/numProcPerNode", 0),
                 "TrainJob mnist: spec.trainer.numProcPerNode is 0, but a host has 1 to 4096");
}

TEST(Check, GetsOverAWorldWithoutHosts) {
  const std::string job = "/spec/replicatedJobs/0";
  expect_finding(
      Kind::kJob,
      [](Objects& objects) {
        set("Job", "/spec/completions", 0)(objects);
        set("Job", "/spec/parallelism", 0)(objects);
      },
      "ROTA_HOSTS is 4, but spec.completions makes 0 pods");
  expect_finding(Kind::kJob, set("Job", "/spec/completions", std::uint64_t{1} << 63U),
                 "parallelism is 4");
  expect_finding(Kind::kJobSet, set("JobSet", job + "/replicas", 0), "makes 0 pods");
  expect_finding(Kind::kJobSet, set("JobSet", job + "/replicas", std::int64_t{1} << 62U),
                 "makes 18446744073709551615 pods");
  Objects objects = rendered(Kind::kTrainJob);
  set("TrainJob", "/spec/trainer/numNodes", 0)(objects);
  check(Manifest(std::move(objects)));
}

TEST(Check, TakesAStatefulSetThatIsScaledDown) {
  Objects objects = rendered(Kind::kStatefulSet);
  set("StatefulSet", "/spec/replicas", 0)(objects);
  EXPECT_THAT(check(Manifest(std::move(objects))), IsEmpty());
}

TEST(Check, SaysOnceThatTheCommandIsAnother) {
  for (const Kind kind : {Kind::kJob, Kind::kStatefulSet}) {
    for (const Tree& command : {Tree::array({"mnist"}), Tree::array({"sh", "-c", "exec rotarun m"}),
                                Tree::array({"rotarun --status-port [::]:8080 mnist"})}) {
      SCOPED_TRACE(command.dump());
      Objects objects = rendered(kind);
      set(kind == Kind::kJob ? "Job" : "StatefulSet", kJobContainer + "/command", command)(objects);
      const Findings findings = check(Manifest(std::move(objects)));
      ASSERT_EQ(findings.size(), 1U);
      EXPECT_THAT(findings[0].text, HasSubstr("no item of this list is rotarun"));
    }
  }
}

// Returns the places of all values within the objects, and of all maps and lists around them.
std::set<std::string> places_in(const Objects& objects) {
  std::set<std::string> places;
  const Tree flat = Tree(objects).flatten();
  for (const auto& item : flat.items()) {
    for (Pointer place(item.key()); !place.parent_pointer().empty();
         place = place.parent_pointer()) {
      places.insert(place.to_string());
    }
  }
  return places;
}

// A wrong value in place of a map or a string must not crash the check.
TEST(Check, GetsOverAnyShape) {
  for (const Kind kind : {Kind::kJob, Kind::kJobSet, Kind::kTrainJob, Kind::kStatefulSet}) {
    for (const Tree& wrong : {Tree(nullptr), Tree(7), Tree("text"), Tree::array({1}), Tree(true)}) {
      const Objects good = rendered(kind);
      for (const std::string& place : places_in(good)) {
        Tree all = good;
        all[Pointer(place)] = wrong;
        Objects spoiled;
        for (const Tree& each : all) spoiled.push_back(each);
        check(Manifest(std::move(spoiled)));
      }
    }
  }
}

}  // namespace
}  // namespace rota::manifest
