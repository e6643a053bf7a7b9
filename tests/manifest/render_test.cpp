// Tests what follows from a command line of rotarun render: parameters, objects and amounts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/command/options.h"
#include "launcher/manifest/job_memory.h"
#include "launcher/manifest/names.h"
#include "launcher/manifest/pod_template.h"
#include "launcher/manifest/quantity.h"
#include "manifest/rendered.h"

namespace rota::manifest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

// Parses the required options and `more`.
CommandLine parse(Words more, const Words& command_line = {"mnist"}) {
  Words words = {"--name", "mnist", "--workers", "4", "--image", "rota-mnist"};
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("--");
  words.insert(words.end(), command_line.begin(), command_line.end());
  return parse_command_line(words);
}

std::string message_of(const Words& more, const Words& command_line = {"mnist"}) {
  try {
    parse(more, command_line);
  } catch (const launcher::UsageError& error) {
    return error.what();
  }
  return "";
}

Words kinds_of(const std::vector<Tree>& objects) {
  Words kinds;
  for (const Tree& object : objects) kinds.push_back(text_at(object, "kind"));
  return kinds;
}

Tree job_of(const Words& more, const Words& command_line = {"mnist"}) {
  auto objects = objects_of(parse(more, command_line).parameters, std::string(32, 'k'));
  return of_kind(objects, "Job");
}

TEST(CommandLine, HasDefaults) {
  const Parameters parameters = parse({}).parameters;
  EXPECT_EQ(parameters.worker_count, 4U);
  EXPECT_EQ(parameters.slot_count, 1U);
  EXPECT_EQ(parameters.restart_count, 3U);
  EXPECT_EQ(parameters.kind, Kind::kJob);
  EXPECT_EQ(parameters.grace_seconds, 20U);
  EXPECT_THAT(parameters.command_line, ElementsAre("mnist"));
}

TEST(CommandLine, RefusesWhatMakesNoSense) {
  EXPECT_THAT(message_of({"--worker", "4"}), HasSubstr("did you mean --workers?"));
  EXPECT_THAT(message_of({"--workers", "0"}), HasSubstr("must be a whole number from 1 to 4096"));
  EXPECT_THAT(message_of({"--workers", "4x"}),
              HasSubstr("--workers 4x: the value must be a whole number"));
  EXPECT_THAT(message_of({"--slots", "2000"}), HasSubstr("at most 4096"));
  EXPECT_THAT(message_of({"--name", "Mnist"}), HasSubstr("--name Mnist: a name must consist of"));
  EXPECT_THAT(message_of({"--name", "7up"}), HasSubstr("with a letter first"));
  EXPECT_THAT(message_of({"--name", std::string(62, 'a')}), HasSubstr("would have 64 letters"));
  EXPECT_THAT(message_of({"--kind", "statefulset", "--name", std::string(53, 'a')}),
              HasSubstr("at most 52 letters"));
  EXPECT_THAT(message_of({"--kind", "cronjob"}), HasSubstr("one of job, jobset, trainjob"));
  EXPECT_THAT(message_of({"--kind", "statefulset", "--restarts", "1"}),
              HasSubstr("without a limit"));
  EXPECT_THAT(message_of({"--cpu", "500m"}), HasSubstr("less than a core"));
  EXPECT_THAT(message_of({"--memory", "much"}), HasSubstr("such as 512Mi or 2Gi"));
  EXPECT_THAT(message_of({"--data-size", "1Gi"}), HasSubstr("name the claim with --data-claim"));
  EXPECT_THAT(message_of({"--key-secret", "a_b"}), HasSubstr("--key-secret a_b: a name"));
  EXPECT_THAT(message_of({"--namespace", "a.b"}), HasSubstr("--namespace a.b: a name"));
  EXPECT_THAT(message_of({"train"}), HasSubstr("after \"--\": -- train"));
  EXPECT_THAT(message_of({}, {}), HasSubstr("no program to start"));
  EXPECT_THAT(message_of({}, {"--nq", "4", "mnist"}), HasSubstr("unknown option --nq"));
  EXPECT_THAT(message_of({}, {"--status-port", "1", "mnist"}), HasSubstr("answer at port 8080"));
  EXPECT_THAT(message_of({}, {"-H", "a,b", "mnist"}), HasSubstr("--workers"));
  EXPECT_THAT(message_of({}, {"rotarun", "mnist"}), HasSubstr("leave it out after --"));
  EXPECT_THAT(message_of({}, {"--grace", "5", "/bin/rotarun", "mnist"}),
              HasSubstr("rotarun render adds rotarun itself"));
  EXPECT_THROW(parse_command_line({"--check"}), launcher::UsageError);
  EXPECT_THROW(parse_command_line({"--check", "-", "--gpu", "1"}), launcher::UsageError);
  EXPECT_THROW(parse_command_line({"--name", "a", "--workers", "2", "--", "a"}),
               launcher::UsageError);
}

TEST(CommandLine, TakesFilesToCheck) {
  const CommandLine line = parse_command_line({"--check", "a.yaml", "-"});
  EXPECT_TRUE(line.is_check);
  EXPECT_THAT(line.files, ElementsAre("a.yaml", "-"));
}

TEST(Objects, AreInTheOrderInWhichTheyAreNeeded) {
  EXPECT_THAT(kinds_of(rendered(Kind::kJob)), ElementsAre("Secret", "Service", "Job"));
  EXPECT_THAT(kinds_of(rendered(Kind::kJobSet)), ElementsAre("Secret", "JobSet"));
  EXPECT_THAT(kinds_of(rendered(Kind::kTrainJob)),
              ElementsAre("Secret", "TrainingRuntime", "TrainJob"));
  EXPECT_THAT(kinds_of(rendered(Kind::kStatefulSet)),
              ElementsAre("Secret", "Service", "StatefulSet"));
}

TEST(Objects, HaveTheKeyThatIsGiven) {
  auto objects = objects_of(parameters_of(Kind::kJob), std::string(32, '\xff'));
  EXPECT_EQ(of_kind(objects, "Secret")["data"]["key"],
            "//////////////////////////////////////////8=");
  EXPECT_EQ(to_base64("a"), "YQ==");
  EXPECT_EQ(to_base64("ab"), "YWI=");
  EXPECT_EQ(to_base64("abc"), "YWJj");
}

TEST(Objects, UseASecretAndAClaimThatExist) {
  const auto line = parse({"--key-secret", "mine", "--data-claim", "data"});
  auto objects = objects_of(line.parameters, "");
  EXPECT_THAT(kinds_of(objects), ElementsAre("Service", "Job"));
  const Tree& pod = map_at(of_kind(objects, "Job"), "spec.template.spec");
  EXPECT_EQ(text_at(pod, "volumes[0].secret.secretName"), "mine");
  EXPECT_EQ(text_at(pod, "volumes[1].persistentVolumeClaim.claimName"), "data");
  EXPECT_EQ(text_at(pod, "containers[0].volumeMounts[1].mountPath"), "/data");
}

TEST(Objects, LetAPodEndAfterItsRanks) {
  const std::string path = "spec.template.spec.terminationGracePeriodSeconds";
  EXPECT_EQ(count_at(job_of({}), path), 30U);
  EXPECT_EQ(count_at(job_of({}, {"--grace", "90.5", "mnist"}), path), 101U);
}

TEST(Objects, HaveTheFirstOfThePorts) {
  auto objects = objects_of(parse({}, {"--ports", "7800-7900", "mnist"}).parameters, "");
  EXPECT_EQ(count_at(of_kind(objects, "Service"), "spec.ports[0].port"), 7800U);
  EXPECT_EQ(
      count_at(of_kind(objects, "Job"), "spec.template.spec.containers[0].ports[0].containerPort"),
      7800U);
}

TEST(Objects, HaveAsManyCoresAsSlots) {
  const std::string path = "spec.template.spec.containers[0].resources.";
  EXPECT_EQ(text_at(job_of({"--slots", "3"}), path + "limits.cpu"), "3");
  const Tree job = job_of({"--cpu", "4", "--cpu-request", "80m", "--gpu", "1"});
  EXPECT_EQ(text_at(job, path + "limits.cpu"), "4");
  EXPECT_EQ(text_at(job, path + "requests.cpu"), "80m");
  EXPECT_EQ(map_at(job, path + "limits")["nvidia.com/gpu"], "1");
}

// rotarun has 8 MiB. Each rank has 4 MiB, 3 numbers of 4 bytes per parameter, and one chunk of the
// parameters.
TEST(Memory, IsWhatRotarunAndItsRanksTake) {
  constexpr std::uint64_t kMebibyte = 1024 * 1024;
  EXPECT_EQ(memory_need({}), 12 * kMebibyte + 0);
  EXPECT_EQ(memory_need({.parameter_count = kMebibyte}), (8 + 4 + 12 + 4) * kMebibyte);
  const MemoryNeed across{.slot_count = 2, .world_size = 8, .parameter_count = 8 * kMebibyte};
  const std::uint64_t communication =
      (64 + 4 + 192 + 24 + 12 + 4 + 4 + 256 * 7) * 1024 + 64 * (768 * 8 + 512);
  EXPECT_EQ(memory_need(across), 8 * kMebibyte + 2 * ((4 + 96 + 4) * kMebibyte + communication));
}

TEST(Memory, IsMoreWithAdamAndWithEncryption) {
  const MemoryNeed plain{.world_size = 4, .parameter_count = 1000};
  MemoryNeed with_adam = plain;
  with_adam.numbers_per_parameter = kNumbersWithAdam;
  EXPECT_EQ(memory_need(with_adam) - memory_need(plain), 4000U);
  MemoryNeed encrypted = plain;
  encrypted.encrypts = true;
  EXPECT_EQ(memory_need(encrypted) - memory_need(plain), (448U + 64 * 3) * 1024);
}

// A state of the parameters and one number for each, or with Adam two.
TEST(Memory, IsMoreByARanksShareOfTheStateWithCheckpoints) {
  constexpr std::uint64_t kMebibyte = 1024 * 1024;
  const auto snapshot_of = [](MemoryNeed need) {
    const std::uint64_t without = memory_need(need);
    need.saves_checkpoints = true;
    return memory_need(need) - without;
  };
  const MemoryNeed large{.world_size = 4, .parameter_count = 256 * kMebibyte};
  EXPECT_EQ(snapshot_of(large), (2048 / 4 + 64) * kMebibyte);
  MemoryNeed with_adam = large;
  with_adam.numbers_per_parameter = kNumbersWithAdam;
  EXPECT_EQ(snapshot_of(with_adam), (3072 / 4 + 64) * kMebibyte);
  MemoryNeed in_one_pod = large;
  in_one_pod.slot_count = 2;
  EXPECT_EQ(snapshot_of(in_one_pod), 2 * (2048 / 4 + 64) * kMebibyte);
  const MemoryNeed small{.world_size = 4, .parameter_count = kMebibyte};
  EXPECT_EQ(snapshot_of(small), 8 * kMebibyte) << "one rank may have the whole state";
  EXPECT_EQ(snapshot_of({.parameter_count = 256 * kMebibyte}), 2048 * kMebibyte);
}

TEST(Quantity, IsReadAsKubernetesWritesIt) {
  EXPECT_EQ(parse_quantity("500m"), 0.5);
  EXPECT_EQ(parse_quantity("2"), 2);
  EXPECT_EQ(parse_quantity("64Mi"), 64.0 * 1024 * 1024);
  EXPECT_EQ(parse_quantity("1e3"), 1000);
  EXPECT_EQ(parse_quantity("1E"), 1e18);
  EXPECT_EQ(parse_quantity("1.5G"), 1.5e9);
  for (const char* text : {"", "Mi", "64mi", "1 Gi", "inf", "nan"}) {
    EXPECT_EQ(parse_quantity(text), std::nullopt) << text;
  }
  EXPECT_EQ(to_mebibytes(1), "1Mi");
  EXPECT_EQ(to_mebibytes(2 * 1024 * 1024), "2Mi");
}

TEST(Names, AreThoseOfHosts) {
  for (const char* name : {"a", "a-b", "0a", "a0"}) EXPECT_TRUE(is_label(name)) << name;
  for (const char* name : {"", "-a", "a-", "A", "a.b", "a_b"}) EXPECT_FALSE(is_label(name)) << name;
  EXPECT_TRUE(is_label(std::string(63, 'a')));
  EXPECT_FALSE(is_label(std::string(64, 'a')));
  EXPECT_FALSE(is_service_name("0a"));
  EXPECT_TRUE(is_object_name("a.b-c.d"));
  for (const char* name : {"a..b", ".a", "a."}) EXPECT_FALSE(is_object_name(name)) << name;
}

}  // namespace
}  // namespace rota::manifest
