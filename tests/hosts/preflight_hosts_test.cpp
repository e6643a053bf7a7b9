// Tests rotarun --preflight on several hosts: what it finds, the exit code of all hosts, and which
// host prints what.
#include <csignal>
#include <nlohmann/json.hpp>

#include "hosts/across_hosts.h"

namespace rota::testing {
namespace {

using ::testing::ContainsRegex;
using Json = nlohmann::json;

// Parses the output of a rotarun, which must be exactly one JSON object.
Json parse(const Result& result) {
  Json parsed = Json::parse(result.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << result.out << result.err;
  return parsed.is_object() ? parsed : Json::object();
}

Json check_of(const Json& report, const std::string& name) {
  for (const Json& check : report.value("checks", Json::array())) {
    if (check["check"] == name) return check;
  }
  return Json::object();
}

class Preflight : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (network_) environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 3})};
  }

  // Fixes the bandwidths, whatever else this machine does.
  void limit_rates(const std::vector<std::string>& rates) const {
    for (std::size_t host = 0; host < rates.size(); ++host) {
      network_->limit_rate(host, rates[host]);
    }
  }

  std::vector<Result> results_of(const std::vector<std::unique_ptr<Process>>& all) const {
    std::vector<Result> results;
    results.reserve(all.size());
    for (const auto& each : all) results.push_back(each->wait());
    return results;
  }

  // Writes a program named `train` for `host`. Returns its folder, which no other host uses.
  std::string write_program(std::size_t host, const std::string& text) const {
    std::string directory = folder_ + "/" + std::to_string(host);
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/train") << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(directory + "/train", std::filesystem::perms::owner_all);
    return directory;
  }

  std::vector<std::unique_ptr<Process>> start_programs(
      const std::vector<std::string>& texts, const std::vector<std::string>& arguments) const {
    std::vector<std::unique_ptr<Process>> all;
    for (std::size_t host = 0; host < texts.size(); ++host) {
      const std::string directory = write_program(host, texts[host]);
      if (texts[host].empty()) std::filesystem::remove(directory + "/train");
      std::vector<std::string> mine = {"--wdir", directory};
      mine.insert(mine.end(), arguments.begin(), arguments.end());
      mine.emplace_back("./train");
      all.push_back(start(host, mine));
    }
    return all;
  }
};

TEST_F(Preflight, MeasuresEveryEdgeOfTheRing) {
  limit_rates({"200mbit", "200mbit", "200mbit"});
  const auto results = results_of(start_all({"--preflight", "--json", rank_program()}));
  const Json report = parse(results[0]);
  const auto& edges = report["edges"];
  ASSERT_EQ(edges.size(), 3U) << report;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(edges[i]["from"], i);
    EXPECT_EQ(edges[i]["to"], (i + 1) % 3);
    EXPECT_EQ(edges[i]["from_host"], network_->address(i));
    EXPECT_EQ(edges[i]["to_host"], network_->address((i + 1) % 3));
    EXPECT_GT(edges[i]["latency_us"], 0);
    EXPECT_GT(edges[i]["bandwidth_bits_per_s"], 100e6);
    EXPECT_LT(edges[i]["bandwidth_bits_per_s"], 300e6);
  }
  EXPECT_EQ(check_of(report, "bandwidth")["verdict"], "fine") << report;
  ASSERT_EQ(report["hosts"].size(), 3U);
  for (const Json& host : report["hosts"]) {
    EXPECT_EQ(host["program"]["path"], rank_program());
    EXPECT_EQ(host["program"]["sha256"], report["hosts"][0]["program"]["sha256"]);
    EXPECT_LT(std::abs(host["clock_ahead_s"].get<double>()), 1);
  }
  EXPECT_EQ(report["hosts"][2]["slots"], 3);
  EXPECT_EQ(check_of(report, "ranks")["verdict"], "fine");
  // The latencies may be good or bad, but all hosts report the same latencies.
  for (const Result& result : results) {
    const Json said = parse(result);
    EXPECT_EQ(said["code"], result.exit_code);
    EXPECT_EQ(said["verdict"], report["verdict"]);
    EXPECT_EQ(said["code"], report["code"]);
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(Preflight, NamesTheEdgeThatIsSlow) {
  limit_rates({"200mbit", "20mbit", "200mbit"});
  const auto results = results_of(start_all({"--preflight", rank_program()}));
  for (const Result& result : results) {
    EXPECT_EQ(result.exit_code, 10) << result.err;
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out,
                ContainsRegex("preflight: degraded: bandwidth: 10.77.0.2 -> 10.77.0.3 has [0-9.]+ "
                              "Mbit/s, 0.[0-9]+ of the median: "));
  }
  EXPECT_THAT(results[0].out, ContainsRegex("\n10.77.0.2 -> 10.77.0.3 .*<- slow\n"));
}

TEST_F(Preflight, OfTwoHostsFindsTheDirectionThatIsSlow) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1})};
  limit_rates({"20mbit", "200mbit"});
  const auto leader = start(0, {"--preflight", "--json", "true"});
  const Result follower = start(1, {"--preflight", "--json", "true"})->wait();
  EXPECT_EQ(follower.exit_code, 10);
  const Result result = leader->wait();
  EXPECT_EQ(result.exit_code, 10);
  const Json report = parse(result);
  ASSERT_EQ(report["edges"].size(), 2U);
  EXPECT_EQ(report["edges"][0]["slow"], true);
  EXPECT_LT(report["edges"][0]["bandwidth_ratio"], 0.5);
  EXPECT_EQ(check_of(report, "bandwidth")["verdict"], "degraded");
}

TEST_F(Preflight, FindsAnotherProgramOnOneHost) {
  const auto all = start_programs({"exit 0", "exit 0", "exit 1"}, {"--preflight", "--json"});
  const auto results = results_of(all);
  for (const Result& result : results) EXPECT_EQ(result.exit_code, 10) << result.err;
  const Json report = parse(results[0]);
  const Json check = check_of(report, "program");
  EXPECT_EQ(check["verdict"], "degraded");
  EXPECT_THAT(check["found"], AllOf(HasSubstr(" on 10.77.0.1, 10.77.0.2; "),  //
                                    HasSubstr(" on 10.77.0.3")));
  const auto& hosts = report["hosts"];
  EXPECT_EQ(hosts[0]["program"]["sha256"], hosts[1]["program"]["sha256"]);
  EXPECT_NE(hosts[0]["program"]["sha256"], hosts[2]["program"]["sha256"]);
}

TEST_F(Preflight, FindsThatOneHostHasNoProgram) {
  const auto all = start_programs({"exit 0", "", "exit 0"}, {"--preflight"});
  for (const Result& result : results_of(all)) {
    EXPECT_EQ(result.exit_code, 20) << result.err;
    EXPECT_THAT(result.out, HasSubstr("preflight: unusable: program: "));
    EXPECT_THAT(result.out, HasSubstr("No such file or directory on 10.77.0.2"));
  }
}

TEST_F(Preflight, StartsNothingOfTheProgram) {
  const std::string mark = folder_ + "/started";
  const std::string touch = "touch " + mark;
  for (const Result& result : results_of(start_programs({touch, touch, touch}, {"--preflight"}))) {
    EXPECT_THAT(result.out, HasSubstr("preflight: "));
  }
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(Preflight, LaysOutTheJobItselfAndNotItsOwn) {
  for (const Result& result : results_of(start_all({"-np", "7", "--preflight", "true"}))) {
    EXPECT_EQ(result.exit_code, 20);
    EXPECT_THAT(result.out, HasSubstr("--np 7: the 3 hosts have 6 slots"));
  }
  const auto results = results_of(start_all({"-np", "5", "--preflight", "true"}));
  EXPECT_THAT(results[0].out, HasSubstr("5: 2 on 10.77.0.1, 1 on 10.77.0.2, 2 on 10.77.0.3"));
}

TEST_F(Preflight, NamesAHostThatIsAbsent) {
  const std::vector<std::string> command = {"--join-timeout", "2", "--preflight", "--json", "true"};
  const auto leader = start(0, command);
  const auto follower = start(1, command);
  for (const auto* each : {&leader, &follower}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 20);
    const Json report = parse(result);
    EXPECT_EQ(report["verdict"], "unusable");
    EXPECT_EQ(report["code"], 20);
    EXPECT_THAT(report["reason"], HasSubstr("1 of 3 hosts: host 2 (10.77.0.3) did not connect"));
  }
}

TEST_F(Preflight, NamesAKeyThatIsAnother) {
  const std::vector<std::string> command = {"--join-timeout", "2", "--preflight", "--json", "true"};
  const auto leader = start(0, command);
  key_file_ = write_key("other", key_text('o'));
  const Result follower = start(1, command)->wait();
  EXPECT_EQ(follower.exit_code, 20);
  EXPECT_THAT(parse(follower)["reason"], HasSubstr("another key"));
  const Result result = leader->wait();
  EXPECT_EQ(result.exit_code, 20);
  EXPECT_THAT(parse(result)["reason"], HasSubstr("it holds another key"));
}

TEST_F(Preflight, IsUnusableWithoutAKey) {
  key_file_ = folder_ + "/none";
  const Result result = start(0, {"--preflight", "--json", "true"})->wait();
  EXPECT_EQ(result.exit_code, 20);
  EXPECT_THAT(parse(result)["reason"], HasSubstr(key_file_));
}

TEST_F(Preflight, IsUnusableWhereNoDataPortIsFree) {
  const auto all = start_all({"--ports", "7700-7700", "--preflight", "--json", "true"});
  for (const Result& result : results_of(all)) {
    EXPECT_EQ(result.exit_code, 20);
    EXPECT_THAT(parse(result)["reason"], HasSubstr("have room for 0 of the 1 ranks"));
  }
}

// Hosts 1 and 2 both reach host 0, where all hosts meet, but not each other.
TEST_F(Preflight, IsUnusableWhereTwoHostsDoNotReachEachOther) {
  network_->configure(1, "ip route add unreachable " + network_->address(2));
  for (const Result& result : results_of(start_all({"--preflight", "--json", "true"}))) {
    EXPECT_EQ(result.exit_code, 20);
    EXPECT_THAT(parse(result)["reason"], HasSubstr("10.77.0.3:7701"));
  }
}

TEST_F(Preflight, IsUnusableWhereHostsWereToldDifferentThings) {
  const auto leader = start(0, {"--join-timeout", "2", "--preflight", "--json", "true"});
  environment_ = {"ROTA_HOSTS=" + hosts({2, 1, 2})};
  const Result follower = start(1, {"--preflight", "--json", "true"})->wait();
  EXPECT_EQ(follower.exit_code, 20);
  EXPECT_THAT(parse(follower)["reason"], HasSubstr("the hosts were told different things"));
  EXPECT_EQ(leader->wait().exit_code, 20);
}

TEST_F(Preflight, IsNoPartOfAJob) {
  environment_ = {"ROTA_HOSTS=" + hosts({1, 1})};
  auto looking = start(0, {"--preflight", "--join-timeout", "3", "true"});
  const Result job = start(1, {"--join-timeout", "3", "echo", "started"})->wait();
  EXPECT_EQ(job.exit_code, 78) << job.err;
  EXPECT_EQ(job.out, "");
  EXPECT_THAT(job.err, HasSubstr("the hosts were told different things"));
  EXPECT_EQ(looking->wait().exit_code, 20);
}

TEST_F(Preflight, CouldNotTellWhereItIsInterrupted) {
  const auto leader = start(0, {"--preflight", "--json", "true"});
  const auto follower = start(1, {"--preflight", "--json", "true"});
  EXPECT_TRUE(leader->wait_for("waiting at 10.77.0.1:7700 for 1 of 3 hosts: host 2"));
  leader->signal(SIGTERM);
  for (const auto* each : {&leader, &follower}) {
    const Result result = (*each)->wait();
    EXPECT_EQ(result.exit_code, 30);
    const Json report = parse(result);
    EXPECT_EQ(report["verdict"], "could not tell");
    EXPECT_THAT(report["reason"], HasSubstr("got SIGTERM"));
  }
}

TEST_F(Preflight, CouldNotTellWithinTheTimeout) {
  for (const Result& result : results_of(start_all({"--timeout", "0.1", "--preflight", "--json",  //
                                                    "true"}))) {
    EXPECT_EQ(result.exit_code, 30);
    EXPECT_THAT(parse(result)["reason"], HasSubstr("--timeout has passed"));
  }
}

TEST_F(Preflight, GivenOnOneHostPrintsOneReportThere) {
  const std::string agent = write_agent() + " {host}";
  limit_rates({"200mbit", "20mbit", "200mbit"});
  environment_.clear();
  for (const std::size_t first : {0, 2}) {  // Any host may start the preflight.
    const Result result =
        run(network_->on(first, rotarun({"-H", hosts({2, 1, 3}), "--agent", agent, "--preflight",
                                         "--json", rank_program()})));
    EXPECT_EQ(result.exit_code, 10) << result.err;
    EXPECT_EQ(result.err, "");
    const Json report = parse(result);
    EXPECT_EQ(report["code"], 10);
    ASSERT_EQ(report["edges"].size(), 3U);
    EXPECT_EQ(report["edges"][1]["slow"], true);
    EXPECT_EQ(report["hosts"][2]["slots"], 3);
  }
}

TEST_F(Preflight, GivenOutsideOfTheRingSaysWhoCannotBeReached) {
  const std::string agent = write_agent() + " {host}";
  environment_.clear();
  const std::vector<std::string> ours = {"--agent", agent, "--preflight", "--json", "true"};
  const auto from_outside = [&](const std::string& list) {
    std::vector<std::string> arguments = {"-H", list};
    arguments.insert(arguments.end(), ours.begin(), ours.end());
    return run(network_->on(0, rotarun(arguments)));
  };
  const Result absent = from_outside(network_->address(1) + ",10.77.0.99");
  EXPECT_EQ(absent.exit_code, 20);
  EXPECT_THAT(parse(absent)["reason"], HasSubstr("the agent of host 1 (10.77.0.99)"));
  const Result present = from_outside(network_->address(1) + "," + network_->address(2));
  EXPECT_EQ(parse(present)["hosts"].size(), 2U);
  EXPECT_EQ(parse(present)["code"], present.exit_code);
}

// Before every job, the hosts compare their programs, even without --preflight.
TEST_F(Preflight, AJobWarnsOfDifferentProgramsAndRuns) {
  const std::string script = "exit 0  # ";
  const auto results = results_of(start_programs({script + "a", script + "b", script + "a"}, {}));
  for (const Result& result : results) EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(
      results[0].err,
      AllOf(HasSubstr("rotarun: warning: the hosts have different programs: host 0 "
                      "(10.77.0.1) has a program of "),
            HasSubstr("; host 1 (10.77.0.2) has a program of "), Not(HasSubstr("10.77.0.3"))));
}

TEST_F(Preflight, AJobWarnsWhereAHostAllowsFewFiles) {
  std::vector<std::unique_ptr<Process>> all;
  for (std::size_t host = 0; host < 3; ++host) {
    Command command = rotarun({"true"});
    if (host == 1) {
      command.arguments = {"/bin/sh", "-c", "ulimit -Sn 20; exec " + rotarun_path() + " true"};
    }
    command.environment = environment_;
    command.environment.push_back("ROTA_KEY_FILE=" + key_file_);
    all.push_back(std::make_unique<Process>(network_->on(host, std::move(command))));
  }
  const auto results = results_of(all);
  for (const Result& result : results) EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(results[0].err, "");
  EXPECT_THAT(results[1].err, HasSubstr("rotarun: warning: each rank may open 20 files"));
}

}  // namespace
}  // namespace rota::testing
