// Who of the other hosts is in, who is not and why, and whom the leader waits for.
#include "launcher/hosts/meet/muster.h"
#include "launcher/command/exit_codes.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::launcher {
namespace {

// "a" to "d", then "h4", "h5", …, at port 2222.
Meeting meeting_of(std::size_t host_count) {
  Meeting meeting{.host_count = host_count, .leader = "a:2222"};
  for (std::size_t host = 0; host < host_count; ++host) {
    const std::string name =
        host < 4 ? std::string(1, "abcd"[host]) : std::string("h") + std::to_string(host);
    meeting.cluster.hosts.push_back({.name = name, .port = 2222});
  }
  return meeting;
}

Hello hello_of(const std::string& host) {
  return {.version = "1.2.3", .host = host, .cluster = "the words"};
}

// As it introduces itself to the one that it calls.
std::optional<Refusal> call(Muster& muster, std::size_t host, const Hello& hello) {
  return muster.on_call(host, {{host, encode(hello)}});
}

void expect_refused(const std::optional<Refusal>& refusal, int exit_code, const std::string& why) {
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->exit_code, exit_code);
  EXPECT_EQ(refusal->why, why);
}

TEST(Muster, IsCompleteWhenAllHostsAreHere) {
  const Meeting meeting = meeting_of(3);
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_TRUE(muster.is_here(0));
  EXPECT_FALSE(muster.is_complete());
  EXPECT_EQ(call(muster, 2, hello_of("c")), std::nullopt);
  EXPECT_FALSE(muster.is_complete());
  EXPECT_EQ(call(muster, 1, hello_of("b")), std::nullopt);
  EXPECT_TRUE(muster.is_complete());
  EXPECT_EQ(muster.hello(2), hello_of("c"));
}

TEST(Muster, IsCompleteAtOnceWhereThereIsNobodyElse) {
  const Meeting meeting = meeting_of(1);
  EXPECT_TRUE(Muster(meeting, 0, hello_of("a")).is_complete());
}

TEST(Muster, RefusesAnotherVersion) {
  const Meeting meeting = meeting_of(2);
  Muster muster(meeting, 0, hello_of("a"));
  Hello other = hello_of("b");
  other.version = "1.2.4";
  other.cluster = "other words";  // Which another version may well have for the same.
  expect_refused(
      call(muster, 1, other), kExitSpecification,
      "host 1 (b:2222) has rota 1.2.4, and host 0 (a:2222) has 1.2.3: install the same version "
      "everywhere");
  EXPECT_FALSE(muster.is_here(1));
}

TEST(Muster, RefusesAHostThatWasToldSomethingElse) {
  const Meeting meeting = meeting_of(2);
  Muster muster(meeting, 0, hello_of("a"));
  Hello other = hello_of("b");
  other.cluster = "other words";
  expect_refused(
      call(muster, 1, other), kExitSpecification,
      "the hosts were told different things: host 1 (b:2222) of other words; host 0 (a:2222) of "
      "the words");
  EXPECT_FALSE(muster.is_here(1));
}

TEST(Muster, RefusesASecondInstanceAndKeepsTheFirst) {
  const Meeting meeting = meeting_of(2);
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_EQ(call(muster, 1, hello_of("first")), std::nullopt);
  expect_refused(call(muster, 1, hello_of("second")), kExitSlotHeld,
                 "host 1 (b:2222) is here already, on first, and alive: this is another instance "
                 "of it, on second");
  EXPECT_EQ(muster.hello(1).host, "first");
}

TEST(Muster, LetsAHostThatWasLostComeBack) {
  const Meeting meeting = meeting_of(2);
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_EQ(call(muster, 1, hello_of("first")), std::nullopt);
  muster.on_lost(1);
  EXPECT_FALSE(muster.is_complete());
  EXPECT_EQ(muster.absent_text(), "1 of 2 hosts: host 1 (b:2222)");
  EXPECT_EQ(call(muster, 1, hello_of("second")), std::nullopt);
  EXPECT_TRUE(muster.is_complete());
  EXPECT_EQ(muster.hello(1).host, "second");
}

TEST(Muster, RefusesSlotsOtherThanTheDeclaredOnes) {
  Meeting meeting = meeting_of(3);
  meeting.cluster.hosts[1].slots = 4;
  Muster muster(meeting, 0, hello_of("a"));
  Hello hello = hello_of("b");
  hello.slot_count = 3;
  expect_refused(call(muster, 1, hello), kExitSpecification,
                 "host 1 (b:2222) has 3 slots, and host 0 (a:2222) was told that it has 4");
  hello.slot_count = 4;
  EXPECT_EQ(call(muster, 1, hello), std::nullopt);
  hello.slot_count = 17;  // Nobody has declared those of the next one.
  EXPECT_EQ(call(muster, 2, hello), std::nullopt);
}

TEST(Muster, WelcomesThoseOutsideOfTheRingAndDoesNotWaitForThem) {
  Meeting meeting = meeting_of(3);
  meeting.host_count = 2;
  meeting.cluster.hosts[2].role = cluster::Role::kEvaluator;
  meeting.cluster.hosts[2].slots = 5;  // It has no ranks, whatever it is declared to have.
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_EQ(call(muster, 1, hello_of("b")), std::nullopt);
  EXPECT_TRUE(muster.is_complete());
  EXPECT_FALSE(muster.is_here(2));
  EXPECT_EQ(call(muster, 2, hello_of("c")), std::nullopt);
  EXPECT_TRUE(muster.is_here(2));
}

TEST(Muster, KnowsWhatKeepsAHostFromRunningTheProgram) {
  const Meeting meeting = meeting_of(3);
  Muster muster(meeting, 0, hello_of("a"));
  Hello hello = hello_of("c");
  hello.obstacle_code = kExitNotFound;
  hello.obstacle = "there is no train";
  EXPECT_EQ(call(muster, 2, hello), std::nullopt);
  expect_refused(muster.obstacle(), kExitNotFound, "host 2 (c:2222): there is no train");
  EXPECT_EQ(call(muster, 1, hello_of("b")), std::nullopt);
  muster.on_lost(2);
  EXPECT_FALSE(muster.obstacle());
}

TEST(Muster, KnowsAnObstacleOfTheLeaderItselfFirst) {
  const Meeting meeting = meeting_of(2);
  Hello own = hello_of("a");
  own.obstacle_code = kExitCannotRun;
  own.obstacle = "train is a directory";
  Muster muster(meeting, 0, own);
  Hello hello = hello_of("b");
  hello.obstacle_code = kExitNotFound;
  EXPECT_EQ(call(muster, 1, hello), std::nullopt);
  expect_refused(muster.obstacle(), kExitCannotRun, "host 0 (a:2222): train is a directory");
}

TEST(Muster, WarnsOfProgramsThatDifferAndNamesTheHosts) {
  const Meeting meeting = meeting_of(4);
  Hello hello = hello_of("a");
  hello.program = "10 bytes, aa";
  Muster muster(meeting, 0, hello);
  EXPECT_EQ(call(muster, 1, hello), std::nullopt);
  EXPECT_TRUE(muster.warnings().empty());
  hello.program.clear();  // One that it could not look at.
  EXPECT_EQ(call(muster, 2, hello), std::nullopt);
  EXPECT_TRUE(muster.warnings().empty());
  hello.program = "11 bytes, bb";
  EXPECT_EQ(call(muster, 3, hello), std::nullopt);
  EXPECT_EQ(muster.warnings(),
            (std::vector<std::string>{"the hosts have different programs: host 0 (a:2222) has one "
                                      "of 10 bytes, aa; host 3 (d:2222) has one of 11 bytes, bb"}));
}

TEST(Muster, WarnsOfEightProgramsThatDifferAndCountsTheOthers) {
  const Meeting meeting = meeting_of(12);
  Hello hello = hello_of("a");
  hello.program = "first";
  Muster muster(meeting, 0, hello);
  hello.program = "other";
  for (std::size_t host = 1; host < 12; ++host) {
    EXPECT_EQ(call(muster, host, hello), std::nullopt);
  }
  ASSERT_EQ(muster.warnings().size(), 1U);
  EXPECT_TRUE(muster.warnings()[0].ends_with("; host 8 (h8:2222) has one of other; and 3 more"));
}

TEST(Muster, NamesWhoIsAbsent) {
  const Meeting meeting = meeting_of(4);
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_EQ(call(muster, 2, hello_of("c")), std::nullopt);
  EXPECT_EQ(muster.absent_text(), "2 of 4 hosts: host 1 (b:2222), host 3 (d:2222)");
}

TEST(Muster, NamesAHostWithoutANameByItsNumber) {
  Meeting meeting = meeting_of(2);
  meeting.cluster.hosts[1] = {};
  EXPECT_EQ(Muster(meeting, 0, hello_of("a")).absent_text(), "1 of 2 hosts: host 1");
}

TEST(Muster, NamesEightOfManyThatAreAbsentAndCountsTheOthers) {
  const Meeting nine = meeting_of(9);
  EXPECT_EQ(Muster(nine, 0, hello_of("a")).absent_text(),
            "8 of 9 hosts: host 1 (b:2222), host 2 (c:2222), host 3 (d:2222), host 4 (h4:2222), "
            "host 5 (h5:2222), host 6 (h6:2222), host 7 (h7:2222), host 8 (h8:2222)");
  const Meeting many = meeting_of(1000);
  const std::string text = Muster(many, 0, hello_of("a")).absent_text();
  EXPECT_TRUE(text.starts_with("999 of 1000 hosts: host 1 (b:2222), ")) << text;
  EXPECT_TRUE(text.ends_with(", host 8 (h8:2222) and 991 more")) << text;
}

// All of a thousand say hello as they do over the wire, but one; in between some go and come again.
TEST(Muster, NamesTheOneThatIsAbsentOfAThousand) {
  constexpr std::size_t kHostCount = 1000;
  constexpr std::size_t kMissing = 617;
  const Meeting meeting = meeting_of(kHostCount);
  Muster muster(meeting, 0, hello_of("a"));
  for (std::size_t host = kHostCount - 1; host > 0; --host) {
    const auto hello = decode_hello(encode(hello_of("h" + std::to_string(host))));
    ASSERT_TRUE(hello);
    if (host == kMissing) continue;
    ASSERT_EQ(call(muster, host, *hello), std::nullopt) << host;
    ASSERT_EQ(muster.is_complete(), false);
    if (host % 10 != 0) continue;
    muster.on_lost(host);
    ASSERT_EQ(call(muster, host, *hello), std::nullopt) << host;
  }
  EXPECT_EQ(muster.absent_text(), "1 of 1000 hosts: host 617 (h617:2222)");
  EXPECT_EQ(call(muster, kMissing, hello_of("h617")), std::nullopt);
  EXPECT_TRUE(muster.is_complete());
}

// Host 0 is called by 32 hosts, host 1 by hosts 33 to 64.
Meeting tree_of(std::size_t host_count) {
  Meeting meeting = meeting_of(host_count);
  meeting.is_tree = true;
  return meeting;
}

std::vector<HostText> told_by(std::optional<Dispatch> dispatch) {
  return dispatch ? *decode_host_texts(dispatch->text) : std::vector<HostText>();
}

std::vector<std::size_t> hosts_of(const std::vector<HostText>& by_host) {
  std::vector<std::size_t> hosts;
  hosts.reserve(by_host.size());
  for (const HostText& entry : by_host) hosts.push_back(entry.host);
  return hosts;
}

TEST(Muster, TellsOfAllThatAreBelowInOnePiece) {
  const Meeting meeting = tree_of(36);
  Muster muster(meeting, 1, hello_of("b"));
  const base::TimePoint now{};
  EXPECT_FALSE(muster.is_complete());
  for (const std::size_t host : {34U, 33U}) {
    EXPECT_EQ(call(muster, host, hello_of("h")), std::nullopt);
    EXPECT_EQ(muster.take_hello(now), std::nullopt);
  }
  EXPECT_EQ(muster.absent_text(), "1 of 4 hosts: host 35 (h35:2222)");
  EXPECT_EQ(call(muster, 35, hello_of("h35")), std::nullopt);
  EXPECT_TRUE(muster.is_complete());
  const std::vector<HostText> told = told_by(muster.take_hello(now));
  EXPECT_EQ(hosts_of(told), (std::vector<std::size_t>{1, 33, 34, 35}));
  EXPECT_EQ(decode_hello(told[0].text)->cluster, "the words");
  EXPECT_EQ(decode_hello(told[3].text)->cluster, "");  // They are the same, and would be long.
  EXPECT_EQ(muster.take_hello(now), std::nullopt);

  Muster leader(meeting, 0, hello_of("a"));
  EXPECT_EQ(leader.on_call(1, told), std::nullopt);
  EXPECT_TRUE(leader.is_here(1));
  EXPECT_EQ(leader.hello(35).host, "h35");
}

TEST(Muster, TellsAfterASecondOfThoseWhoHaveCome) {
  const Meeting meeting = tree_of(36);
  Muster muster(meeting, 1, hello_of("b"));
  const base::TimePoint start{};
  EXPECT_EQ(call(muster, 34, hello_of("h34")), std::nullopt);
  EXPECT_EQ(muster.take_hello(start), std::nullopt);
  EXPECT_EQ(muster.next_deadline(), start + std::chrono::seconds(1));
  EXPECT_EQ(call(muster, 35, hello_of("h35")), std::nullopt);
  const auto later = start + std::chrono::seconds(1);
  EXPECT_EQ(hosts_of(told_by(muster.take_hello(later))), (std::vector<std::size_t>{1, 34, 35}));
  EXPECT_EQ(muster.next_deadline(), std::nullopt);
  EXPECT_EQ(call(muster, 33, hello_of("h33")), std::nullopt);
  EXPECT_EQ(hosts_of(told_by(muster.take_hello(later))), (std::vector<std::size_t>{33}));
}

TEST(Muster, HasNothingToTellOfOneThatCameAndWent) {
  const Meeting meeting = tree_of(36);
  Muster muster(meeting, 1, hello_of("b"));
  const base::TimePoint start{};
  const auto later = start + std::chrono::seconds(1);
  EXPECT_EQ(muster.take_hello(start), std::nullopt);
  EXPECT_EQ(hosts_of(told_by(muster.take_hello(later))), (std::vector<std::size_t>{1}));
  EXPECT_EQ(call(muster, 34, hello_of("h34")), std::nullopt);
  EXPECT_EQ(muster.take_hello(later), std::nullopt);
  EXPECT_TRUE(muster.next_deadline());
  muster.on_lost(34);
  EXPECT_EQ(muster.take_hello(later), std::nullopt);
  EXPECT_EQ(muster.next_deadline(), std::nullopt);
}

TEST(Muster, LosesWithAHostThoseBelowIt) {
  const Meeting meeting = tree_of(36);
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_EQ(muster.on_call(1, {{1, encode(hello_of("b"))}, {33, encode(hello_of("h33"))}}),
            std::nullopt);
  muster.on_hellos(1, {{35, encode(hello_of("h35"))}});
  EXPECT_TRUE(muster.is_here(33) && muster.is_here(35));
  muster.on_lost(1);
  EXPECT_FALSE(muster.is_here(1) || muster.is_here(33) || muster.is_here(35));
  EXPECT_TRUE(muster.absent_text().starts_with("35 of 36 hosts: host 1 (b:2222), host 2"));
  EXPECT_TRUE(muster.absent_text().ends_with(" and 24 more; the other 3 call those, not this host"))
      << muster.absent_text();
}

TEST(Muster, HearsOfNobodyWhoIsNotBelow) {
  const Meeting meeting = tree_of(36);
  Muster muster(meeting, 0, hello_of("a"));
  EXPECT_EQ(muster.on_call(2, {{2, encode(hello_of("c"))}, {33, encode(hello_of("h33"))}}),
            std::nullopt);
  EXPECT_FALSE(muster.is_here(33));
}

TEST(Muster, TellsWhereTheRanksAreOfAllAtOnce) {
  const Meeting meeting = tree_of(34);
  Muster muster(meeting, 1, hello_of("b"));
  EXPECT_EQ(call(muster, 33, hello_of("h33")), std::nullopt);
  Routes routes(meeting, 1);
  routes.assign({{1, encode(Share{.ranks = {0}, .groups = {0}, .world_size = 2})},
                 {33, encode(Share{.ranks = {1}, .groups = {0}, .world_size = 2})}});
  const auto seats_at = [](const std::string& address) {
    return Seats{.addresses = {address}, .cores = {""}, .devices = {{}}};
  };
  muster.set_own_seats(seats_at("10.0.0.2:7701"));
  EXPECT_EQ(muster.take_ready(), std::nullopt);
  const std::string two = encode(Seats{
      .addresses = {"10.0.0.3:7701", "10.0.0.3:7702"}, .cores = {"", ""}, .devices = {{}, {}}});
  muster.on_seats(33, {{33, two}}, routes);  // It has one rank.
  EXPECT_FALSE(muster.is_seated());
  muster.on_seats(33, {{33, encode(seats_at("10.0.0.3:7701"))}}, routes);
  EXPECT_TRUE(muster.is_seated());
  EXPECT_EQ(hosts_of(told_by(muster.take_ready())), (std::vector<std::size_t>{1, 33}));
  EXPECT_EQ(muster.take_ready(), std::nullopt);
}

}  // namespace
}  // namespace rota::launcher
