// Tests which hosts count as joined, which as absent and why, and which hosts the leader waits for.
#include "launcher/hosts/rendezvous/host_registry.h"
#include "launcher/command/exit_codes.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::launcher {
namespace {

// Returns a plan with hosts "a" to "d", then "h4", "h5", …, at port 2222.
HostPlan host_plan_of(std::size_t host_count) {
  HostPlan host_plan{.host_count = host_count, .leader = "a:2222"};
  for (std::size_t host = 0; host < host_count; ++host) {
    const std::string name =
        host < 4 ? std::string(1, "abcd"[host]) : std::string("h") + std::to_string(host);
    host_plan.cluster.hosts.push_back({.name = name, .port = 2222});
  }
  return host_plan;
}

Hello hello_of(const std::string& host) {
  return {.version = "1.2.3", .host = host, .cluster = "the words"};
}

// Lets a host introduce itself to the host that it calls.
std::optional<Refusal> call(HostRegistry& registry, std::size_t host, const Hello& hello) {
  return registry.on_call(host, {{host, encode(hello)}});
}

void expect_refused(const std::optional<Refusal>& refusal, int exit_code, const std::string& why) {
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->exit_code, exit_code);
  EXPECT_EQ(refusal->why, why);
}

TEST(HostRegistry, IsCompleteWhenAllHostsAreHere) {
  const HostPlan host_plan = host_plan_of(3);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_TRUE(registry.is_here(0));
  EXPECT_FALSE(registry.is_complete());
  EXPECT_EQ(call(registry, 2, hello_of("c")), std::nullopt);
  EXPECT_FALSE(registry.is_complete());
  EXPECT_EQ(call(registry, 1, hello_of("b")), std::nullopt);
  EXPECT_TRUE(registry.is_complete());
  EXPECT_EQ(registry.hello(2), hello_of("c"));
}

TEST(HostRegistry, IsCompleteAtOnceWhereThereIsNobodyElse) {
  const HostPlan host_plan = host_plan_of(1);
  EXPECT_TRUE(HostRegistry(host_plan, 0, hello_of("a")).is_complete());
}

TEST(HostRegistry, RefusesAnotherVersion) {
  const HostPlan host_plan = host_plan_of(2);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  Hello other = hello_of("b");
  other.version = "1.2.4";
  other.cluster = "other words";  // Another version may use other words for the same cluster.
  expect_refused(
      call(registry, 1, other), kExitSpecification,
      "host 1 (b:2222) has rota 1.2.4, and host 0 (a:2222) has 1.2.3: install the same version "
      "everywhere");
  EXPECT_FALSE(registry.is_here(1));
}

TEST(HostRegistry, RefusesAHostThatWasToldSomethingElse) {
  const HostPlan host_plan = host_plan_of(2);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  Hello other = hello_of("b");
  other.cluster = "other words";
  expect_refused(call(registry, 1, other), kExitSpecification,
                 "the hosts were told different things: host 1 (b:2222) was told of other words, "
                 "but host 0 (a:2222) was told of the words");
  EXPECT_FALSE(registry.is_here(1));
}

TEST(HostRegistry, RefusesASecondInstanceAndKeepsTheFirst) {
  const HostPlan host_plan = host_plan_of(2);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_EQ(call(registry, 1, hello_of("first")), std::nullopt);
  expect_refused(
      call(registry, 1, hello_of("second")), kExitSlotHeld,
      "host 1 (b:2222) has already joined, on first, and is alive: this is another instance "
      "of it, on second");
  EXPECT_EQ(registry.hello(1).host, "first");
}

TEST(HostRegistry, LetsAHostThatWasLostComeBack) {
  const HostPlan host_plan = host_plan_of(2);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_EQ(call(registry, 1, hello_of("first")), std::nullopt);
  registry.on_lost(1);
  EXPECT_FALSE(registry.is_complete());
  EXPECT_EQ(registry.absent_text(), "1 of 2 hosts: host 1 (b:2222)");
  EXPECT_EQ(call(registry, 1, hello_of("second")), std::nullopt);
  EXPECT_TRUE(registry.is_complete());
  EXPECT_EQ(registry.hello(1).host, "second");
}

TEST(HostRegistry, RefusesSlotsOtherThanTheDeclaredOnes) {
  HostPlan host_plan = host_plan_of(3);
  host_plan.cluster.hosts[1].slots = 4;
  HostRegistry registry(host_plan, 0, hello_of("a"));
  Hello hello = hello_of("b");
  hello.slot_count = 3;
  expect_refused(call(registry, 1, hello), kExitSpecification,
                 "host 1 (b:2222) has 3 slots, but host 0 (a:2222) was told that host 1 (b:2222) "
                 "has 4");
  hello.slot_count = 4;
  EXPECT_EQ(call(registry, 1, hello), std::nullopt);
  hello.slot_count = 17;  // Nobody declared the slots of host 2.
  EXPECT_EQ(call(registry, 2, hello), std::nullopt);
}

TEST(HostRegistry, WelcomesThoseOutsideOfTheRingAndDoesNotWaitForThem) {
  HostPlan host_plan = host_plan_of(3);
  host_plan.host_count = 2;
  host_plan.cluster.hosts[2].role = cluster::Role::kEvaluator;
  host_plan.cluster.hosts[2].slots = 5;  // Host 2 has no ranks, whatever number is declared.
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_EQ(call(registry, 1, hello_of("b")), std::nullopt);
  EXPECT_TRUE(registry.is_complete());
  EXPECT_FALSE(registry.is_here(2));
  EXPECT_EQ(call(registry, 2, hello_of("c")), std::nullopt);
  EXPECT_TRUE(registry.is_here(2));
}

TEST(HostRegistry, KnowsWhatKeepsAHostFromRunningTheProgram) {
  const HostPlan host_plan = host_plan_of(3);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  Hello hello = hello_of("c");
  hello.obstacle_code = kExitNotFound;
  hello.obstacle = "there is no train";
  EXPECT_EQ(call(registry, 2, hello), std::nullopt);
  expect_refused(registry.obstacle(), kExitNotFound, "host 2 (c:2222): there is no train");
  EXPECT_EQ(call(registry, 1, hello_of("b")), std::nullopt);
  registry.on_lost(2);
  EXPECT_FALSE(registry.obstacle());
}

TEST(HostRegistry, KnowsAnObstacleOfTheLeaderItselfFirst) {
  const HostPlan host_plan = host_plan_of(2);
  Hello own = hello_of("a");
  own.obstacle_code = kExitCannotRun;
  own.obstacle = "train is a directory";
  HostRegistry registry(host_plan, 0, own);
  Hello hello = hello_of("b");
  hello.obstacle_code = kExitNotFound;
  EXPECT_EQ(call(registry, 1, hello), std::nullopt);
  expect_refused(registry.obstacle(), kExitCannotRun, "host 0 (a:2222): train is a directory");
}

TEST(HostRegistry, WarnsOfProgramsThatDifferAndNamesTheHosts) {
  const HostPlan host_plan = host_plan_of(4);
  Hello hello = hello_of("a");
  hello.program = "10 bytes, aa";
  HostRegistry registry(host_plan, 0, hello);
  EXPECT_EQ(call(registry, 1, hello), std::nullopt);
  EXPECT_TRUE(registry.warnings().empty());
  hello.program.clear();  // This host could not look at its program.
  EXPECT_EQ(call(registry, 2, hello), std::nullopt);
  EXPECT_TRUE(registry.warnings().empty());
  hello.program = "11 bytes, bb";
  EXPECT_EQ(call(registry, 3, hello), std::nullopt);
  EXPECT_EQ(registry.warnings(),
            (std::vector<std::string>{
                "the hosts have different programs: host 0 (a:2222) has a program of 10 bytes, aa; "
                "host 3 (d:2222) has a program of 11 bytes, bb"}));
}

TEST(HostRegistry, WarnsOfEightProgramsThatDifferAndCountsTheOthers) {
  const HostPlan host_plan = host_plan_of(12);
  Hello hello = hello_of("a");
  hello.program = "first";
  HostRegistry registry(host_plan, 0, hello);
  hello.program = "other";
  for (std::size_t host = 1; host < 12; ++host) {
    EXPECT_EQ(call(registry, host, hello), std::nullopt);
  }
  ASSERT_EQ(registry.warnings().size(), 1U);
  EXPECT_TRUE(
      registry.warnings()[0].ends_with("; host 8 (h8:2222) has a program of other; and 3 more"));
}

TEST(HostRegistry, NamesWhoIsAbsent) {
  const HostPlan host_plan = host_plan_of(4);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_EQ(call(registry, 2, hello_of("c")), std::nullopt);
  EXPECT_EQ(registry.absent_text(), "2 of 4 hosts: host 1 (b:2222), host 3 (d:2222)");
}

TEST(HostRegistry, NamesAHostWithoutANameByItsNumber) {
  HostPlan host_plan = host_plan_of(2);
  host_plan.cluster.hosts[1] = {};
  EXPECT_EQ(HostRegistry(host_plan, 0, hello_of("a")).absent_text(), "1 of 2 hosts: host 1");
}

TEST(HostRegistry, NamesEightOfManyThatAreAbsentAndCountsTheOthers) {
  const HostPlan nine = host_plan_of(9);
  EXPECT_EQ(HostRegistry(nine, 0, hello_of("a")).absent_text(),
            "8 of 9 hosts: host 1 (b:2222), host 2 (c:2222), host 3 (d:2222), host 4 (h4:2222), "
            "host 5 (h5:2222), host 6 (h6:2222), host 7 (h7:2222), host 8 (h8:2222)");
  const HostPlan many = host_plan_of(1000);
  const std::string text = HostRegistry(many, 0, hello_of("a")).absent_text();
  EXPECT_TRUE(text.starts_with("999 of 1000 hosts: host 1 (b:2222), ")) << text;
  EXPECT_TRUE(text.ends_with(", host 8 (h8:2222) and 991 more")) << text;
}

// All but one of a thousand hosts send a hello as they do over the wire. Meanwhile some hosts leave
// and join again.
TEST(HostRegistry, NamesTheOneThatIsAbsentOfAThousand) {
  constexpr std::size_t kHostCount = 1000;
  constexpr std::size_t kMissing = 617;
  const HostPlan host_plan = host_plan_of(kHostCount);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  for (std::size_t host = kHostCount - 1; host > 0; --host) {
    const auto hello = decode_hello(encode(hello_of("h" + std::to_string(host))));
    ASSERT_TRUE(hello);
    if (host == kMissing) continue;
    ASSERT_EQ(call(registry, host, *hello), std::nullopt) << host;
    ASSERT_EQ(registry.is_complete(), false);
    if (host % 10 != 0) continue;
    registry.on_lost(host);
    ASSERT_EQ(call(registry, host, *hello), std::nullopt) << host;
  }
  EXPECT_EQ(registry.absent_text(), "1 of 1000 hosts: host 617 (h617:2222)");
  EXPECT_EQ(call(registry, kMissing, hello_of("h617")), std::nullopt);
  EXPECT_TRUE(registry.is_complete());
}

// Returns a plan in which hosts 1 to 32 call host 0, and hosts 33 to 64 call host 1.
HostPlan tree_of(std::size_t host_count) {
  HostPlan host_plan = host_plan_of(host_count);
  host_plan.is_tree = true;
  return host_plan;
}

std::vector<HostText> told_by(std::optional<ControlMessage> message) {
  return message ? *decode_host_texts(message->text) : std::vector<HostText>();
}

std::vector<std::size_t> hosts_of(const std::vector<HostText>& by_host) {
  std::vector<std::size_t> hosts;
  hosts.reserve(by_host.size());
  for (const HostText& entry : by_host) hosts.push_back(entry.host);
  return hosts;
}

TEST(HostRegistry, TellsOfAllThatAreBelowInOnePiece) {
  const HostPlan host_plan = tree_of(36);
  HostRegistry registry(host_plan, 1, hello_of("b"));
  const base::TimePoint now{};
  EXPECT_FALSE(registry.is_complete());
  for (const std::size_t host : {34U, 33U}) {
    EXPECT_EQ(call(registry, host, hello_of("h")), std::nullopt);
    EXPECT_EQ(registry.take_hello(now), std::nullopt);
  }
  EXPECT_EQ(registry.absent_text(), "1 of 4 hosts: host 35 (h35:2222)");
  EXPECT_EQ(call(registry, 35, hello_of("h35")), std::nullopt);
  EXPECT_TRUE(registry.is_complete());
  const std::vector<HostText> told = told_by(registry.take_hello(now));
  EXPECT_EQ(hosts_of(told), (std::vector<std::size_t>{1, 33, 34, 35}));
  EXPECT_EQ(decode_hello(told[0].text)->cluster, "the words");
  EXPECT_EQ(decode_hello(told[3].text)->cluster, "");  // Left out: all hosts have the same.
  EXPECT_EQ(registry.take_hello(now), std::nullopt);

  HostRegistry leader(host_plan, 0, hello_of("a"));
  EXPECT_EQ(leader.on_call(1, told), std::nullopt);
  EXPECT_TRUE(leader.is_here(1));
  EXPECT_EQ(leader.hello(35).host, "h35");
}

TEST(HostRegistry, TellsAfterASecondOfThoseWhoHaveCome) {
  const HostPlan host_plan = tree_of(36);
  HostRegistry registry(host_plan, 1, hello_of("b"));
  const base::TimePoint start{};
  EXPECT_EQ(call(registry, 34, hello_of("h34")), std::nullopt);
  EXPECT_EQ(registry.take_hello(start), std::nullopt);
  EXPECT_EQ(registry.next_deadline(), start + std::chrono::seconds(1));
  EXPECT_EQ(call(registry, 35, hello_of("h35")), std::nullopt);
  const auto later = start + std::chrono::seconds(1);
  EXPECT_EQ(hosts_of(told_by(registry.take_hello(later))), (std::vector<std::size_t>{1, 34, 35}));
  EXPECT_EQ(registry.next_deadline(), std::nullopt);
  EXPECT_EQ(call(registry, 33, hello_of("h33")), std::nullopt);
  EXPECT_EQ(hosts_of(told_by(registry.take_hello(later))), (std::vector<std::size_t>{33}));
}

TEST(HostRegistry, HasNothingToTellOfOneThatCameAndWent) {
  const HostPlan host_plan = tree_of(36);
  HostRegistry registry(host_plan, 1, hello_of("b"));
  const base::TimePoint start{};
  const auto later = start + std::chrono::seconds(1);
  EXPECT_EQ(registry.take_hello(start), std::nullopt);
  EXPECT_EQ(hosts_of(told_by(registry.take_hello(later))), (std::vector<std::size_t>{1}));
  EXPECT_EQ(call(registry, 34, hello_of("h34")), std::nullopt);
  EXPECT_EQ(registry.take_hello(later), std::nullopt);
  EXPECT_TRUE(registry.next_deadline());
  registry.on_lost(34);
  EXPECT_EQ(registry.take_hello(later), std::nullopt);
  EXPECT_EQ(registry.next_deadline(), std::nullopt);
}

TEST(HostRegistry, LosesWithAHostThoseBelowIt) {
  const HostPlan host_plan = tree_of(36);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_EQ(registry.on_call(1, {{1, encode(hello_of("b"))}, {33, encode(hello_of("h33"))}}),
            std::nullopt);
  registry.on_hellos(1, {{35, encode(hello_of("h35"))}});
  EXPECT_TRUE(registry.is_here(33) && registry.is_here(35));
  registry.on_lost(1);
  EXPECT_FALSE(registry.is_here(1) || registry.is_here(33) || registry.is_here(35));
  EXPECT_TRUE(registry.absent_text().starts_with("35 of 36 hosts: host 1 (b:2222), host 2"));
  EXPECT_TRUE(registry.absent_text().ends_with(
      " and 24 more; the other 3 connect to these hosts, not to this one"))
      << registry.absent_text();
}

TEST(HostRegistry, HearsOfNobodyWhoIsNotBelow) {
  const HostPlan host_plan = tree_of(36);
  HostRegistry registry(host_plan, 0, hello_of("a"));
  EXPECT_EQ(registry.on_call(2, {{2, encode(hello_of("c"))}, {33, encode(hello_of("h33"))}}),
            std::nullopt);
  EXPECT_FALSE(registry.is_here(33));
}

TEST(HostRegistry, TellsWhereTheRanksAreOfAllAtOnce) {
  const HostPlan host_plan = tree_of(34);
  HostRegistry registry(host_plan, 1, hello_of("b"));
  EXPECT_EQ(call(registry, 33, hello_of("h33")), std::nullopt);
  Routes routes(host_plan, 1);
  routes.assign({{1, encode(HostAssignment{.ranks = {0}, .groups = {0}, .world_size = 2})},
                 {33, encode(HostAssignment{.ranks = {1}, .groups = {0}, .world_size = 2})}});
  const auto endpoints_at = [](const std::string& address) {
    return HostEndpoints{.addresses = {address}, .cores = {""}, .devices = {{}}};
  };
  registry.set_own_endpoints(endpoints_at("10.0.0.2:7701"));
  EXPECT_EQ(registry.take_ready(), std::nullopt);
  const std::string two = encode(HostEndpoints{
      .addresses = {"10.0.0.3:7701", "10.0.0.3:7702"}, .cores = {"", ""}, .devices = {{}, {}}});
  registry.on_endpoints(33, {{33, two}}, routes);  // The host has only one rank.
  EXPECT_FALSE(registry.has_all_endpoints());
  registry.on_endpoints(33, {{33, encode(endpoints_at("10.0.0.3:7701"))}}, routes);
  EXPECT_TRUE(registry.has_all_endpoints());
  EXPECT_EQ(hosts_of(told_by(registry.take_ready())), (std::vector<std::size_t>{1, 33}));
  EXPECT_EQ(registry.take_ready(), std::nullopt);
}

}  // namespace
}  // namespace rota::launcher
