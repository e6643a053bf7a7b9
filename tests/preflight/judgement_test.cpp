// Tests which facts about hosts are fine, which are not, and the words of the report.
#include "launcher/preflight/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "preflight/inspection.h"

namespace rota::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Finding finding_of(const Judgement& judgement, const std::string& check) {
  const auto found = std::ranges::find(judgement.findings, check, &Finding::check);
  return found == judgement.findings.end() ? Finding{} : *found;
}

TEST(Judgement, IsFineWhereNothingIsWrong) {
  const Judgement judgement = judge(fine_inspection());
  EXPECT_EQ(judgement.verdict, Verdict::kFine);
  EXPECT_EQ(judgement.reason, "");
  for (const Finding& finding : judgement.findings) {
    EXPECT_EQ(finding.verdict, Verdict::kFine) << finding.check;
    EXPECT_NE(finding.found, "") << finding.check;
  }
  EXPECT_EQ(finding_of(judgement, "hosts").found, "a (a:7701), b (b:7701), c (c:7701)");
  EXPECT_EQ(finding_of(judgement, "ranks").found,
            "6: 2 on a, 2 on b, 2 on c; 2 CPUs allowed, no quota");
}

struct Case {
  const char* name;
  std::function<void(Inspection& inspection)> spoil;
  Verdict verdict;
  std::string check;
  std::string words;  // Part of the finding or of the advice.
};

class JudgementOf : public ::testing::TestWithParam<Case> {};

TEST_P(JudgementOf, IsAsTheFactsAre) {
  SCOPED_TRACE(GetParam().name);
  Inspection inspection = fine_inspection();
  GetParam().spoil(inspection);
  const Judgement judgement = judge(inspection);
  EXPECT_EQ(judgement.verdict, GetParam().verdict);
  const Finding finding = finding_of(judgement, GetParam().check);
  EXPECT_EQ(finding.verdict, GetParam().verdict);
  EXPECT_THAT(to_text(finding), HasSubstr(GetParam().words));
  const bool is_fine = judgement.verdict == Verdict::kFine;
  EXPECT_EQ(judgement.reason, is_fine ? "" : finding.check + ": " + to_text(finding));
}

HostFacts& facts_of(Inspection& inspection, std::size_t host) {
  return inspection.hosts[host].facts;
}

INSTANTIATE_TEST_SUITE_P(
    Programs, JudgementOf,
    ::testing::Values(
        Case{"another version", [](Inspection& seen) { facts_of(seen, 1).version = "1.2.4"; },
             Verdict::kUnusable, "version",
             "rota 1.2.3 on a, c; rota 1.2.4 on b: install the same version everywhere"},
        Case{"no program", [](Inspection& seen) { facts_of(seen, 2).program_trouble = "none"; },
             Verdict::kUnusable, "program",
             "none on c: put the program into the same folder on every host"},
        Case{"another program",
             [](Inspection& seen) { facts_of(seen, 1).program_sha256 = std::string(64, 'b'); },
             Verdict::kDegraded, "program",
             "4711 bytes, SHA-256 aaaaaaaaaaaa on a, c; 4711 bytes, SHA-256 bbbbbbbbbbbb on b"},
        Case{"another program of another architecture",
             [](Inspection& seen) {
               facts_of(seen, 1).program_sha256 = std::string(64, 'b');
               facts_of(seen, 1).architecture = "aarch64";
             },
             Verdict::kFine, "program", "the architectures differ"},
        Case{"a program that none may read",
             [](Inspection& seen) {
               for (Host& host : seen.hosts) host.facts.program_sha256.clear();
             },
             Verdict::kFine, "program", "/opt/train, which cannot be read"},
        Case{"other features", [](Inspection& seen) { facts_of(seen, 0).device_count = 4; },
             Verdict::kFine, "features", "CUDA devices: 4 on a; x86_64"}));

INSTANTIATE_TEST_SUITE_P(
    Room, JudgementOf,
    ::testing::Values(
        Case{"too many ranks", [](Inspection& seen) { seen.options.rank_count = 7; },
             Verdict::kUnusable, "ranks", "--np 7: the 3 hosts have 6 slots"},
        Case{"more ranks than a host may have",
             [](Inspection& seen) {
               seen.options.rank_count = 9;
               seen.options.oversubscribe = true;
               facts_of(seen, 1).most_slots = 2;
             },
             Verdict::kUnusable, "ranks", "b would have 3 ranks, but its max_slots is 2"},
        Case{"too large a world", [](Inspection& seen) { seen.world_size = 7; }, Verdict::kUnusable,
             "ranks", "the 3 hosts have 6 slots"},
        Case{"a smaller world", [](Inspection& seen) { seen.world_size = 3; }, Verdict::kFine,
             "ranks", "3: 2 on a, 1 on b, 0 on c"},
        Case{"no ports", [](Inspection& seen) { facts_of(seen, 1).free_port_count = 0; },
             Verdict::kUnusable, "ports", "too few ports are free: b has 1 for 2 ranks"},
        Case{"just enough ports", [](Inspection& seen) { facts_of(seen, 1).free_port_count = 1; },
             Verdict::kFine, "ports", "7700-7955"},
        Case{"few files for a rank",
             [](Inspection& seen) { facts_of(seen, 1).open_files = {.soft = 21, .hard = 4096}; },
             Verdict::kUnusable, "files",
             "b: each rank may open 21 files (ulimit -Sn), but this job needs about 24"},
        Case{"few files for rotarun",
             [](Inspection& seen) { facts_of(seen, 1).open_files = {.soft = 33, .hard = 33}; },
             Verdict::kUnusable, "files", "b: rotarun may open 33 files (ulimit -Hn)"},
        Case{"fewer files than usual",
             [](Inspection& seen) { facts_of(seen, 2).open_files.soft = 1023; }, Verdict::kDegraded,
             "files", "the limit of c is enough for the ranks, but low"},
        Case{"no limits",
             [](Inspection& seen) {
               for (Host& host : seen.hosts) {
                 host.facts.open_files = {UINT64_MAX, UINT64_MAX};
                 host.facts.locked_memory_bytes = UINT64_MAX;
               }
             },
             Verdict::kFine, "memory", "8.0 GiB, may lock no limit"},
        Case{"no shared memory",
             [](Inspection& seen) { facts_of(seen, 1).shared_memory_bytes.reset(); },
             Verdict::kFine, "/dev/shm",
             "1.0 GiB free on a, c; none on b: rota itself does not use"},
        Case{"little shared memory",
             [](Inspection& seen) { facts_of(seen, 1).shared_memory_bytes = 0; }, Verdict::kFine,
             "/dev/shm", "0.0 MiB free on b"},
        Case{"a clock that is wrong", [](Inspection& seen) { seen.hosts[2].clock_ahead = -3.25; },
             Verdict::kFine, "clocks", "c is 3.2 s behind a's clock"},
        Case{"a clock that is nearly right",
             [](Inspection& seen) { seen.hosts[2].clock_ahead = 0.9; }, Verdict::kFine, "clocks",
             "within 900 ms of a's clock"}));

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// Each host has two ranks, and 8 GiB of memory.
INSTANTIATE_TEST_SUITE_P(
    Limits, JudgementOf,
    ::testing::Values(
        Case{"few addresses", [](Inspection& seen) { facts_of(seen, 1).address_limit = 4 * kGiB; },
             Verdict::kDegraded, "limits",
             "b: each of the 2 ranks can share at most 1024 MiB: for more, raise ulimit -v"},
        Case{"addresses for all of the memory",
             [](Inspection& seen) { facts_of(seen, 1).address_limit = 16 * kGiB; }, Verdict::kFine,
             "limits", "; addresses: 16.0 GiB (ulimit -v), file sizes: no limit (-f)"},
        Case{"no addresses", [](Inspection& seen) { facts_of(seen, 1).address_limit = 3 << 20; },
             Verdict::kUnusable, "limits",
             "b: a rank maps the memory that all 2 ranks here share, and the limit of 3145728 "
             "bytes of addresses (ulimit -v) leaves no room for it: raise the limit"},
        Case{"few addresses, but ranks that share no memory",
             [](Inspection& seen) {
               facts_of(seen, 1).address_limit = 3 << 20;
               seen.options = launcher::parse_options({"--transport", "tcp", "train"});
             },
             Verdict::kFine, "limits", "3.0 MiB (ulimit -v)"},
        Case{"short files", [](Inspection& seen) { facts_of(seen, 2).file_size_limit = kGiB; },
             Verdict::kDegraded, "limits", "c: each of the 2 ranks can share at most 1024 MiB: "},
        Case{"no files", [](Inspection& seen) { facts_of(seen, 2).file_size_limit = 1000; },
             Verdict::kUnusable, "limits", "the limit of 1000 bytes (ulimit -f) leaves no room"},
        Case{"few processes", [](Inspection& seen) { facts_of(seen, 0).process_limit = 5; },
             Verdict::kUnusable, "limits",
             "a: this user may have 5 processes (ulimit -u), but this job needs 6: raise"},
        Case{"one process", [](Inspection& seen) { facts_of(seen, 0).process_limit = 1; },
             Verdict::kUnusable, "limits", "a: this user may have 1 process (ulimit -u), but"},
        Case{"just enough processes", [](Inspection& seen) { facts_of(seen, 0).process_limit = 6; },
             Verdict::kFine, "limits", "processes: 6 (-u) on a; "},
        Case{"two limits, of which one is worse",
             [](Inspection& seen) {
               facts_of(seen, 0).address_limit = 4 * kGiB;
               facts_of(seen, 1).process_limit = 5;
               facts_of(seen, 2).address_limit = 4 * kGiB;
             },
             Verdict::kUnusable, "limits", "(-u) on b: b: this user may have 5 processes"}));

INSTANTIATE_TEST_SUITE_P(
    Edges, JudgementOf,
    ::testing::Values(Case{"a slow edge",
                           [](Inspection& seen) { seen.edges[1].bandwidth = 0.125e9; },
                           Verdict::kDegraded, "bandwidth",
                           "b -> c has 1 Gbit/s, 0.1 of the median"},
                      Case{"an edge that is somewhat slow",
                           [](Inspection& seen) { seen.edges[1].bandwidth = 0.625e9; },
                           Verdict::kFine, "bandwidth", "5 Gbit/s to 10 Gbit/s"},
                      Case{"a long edge", [](Inspection& seen) { seen.edges[2].latency = 5e-3; },
                           Verdict::kDegraded, "latency", "c -> a has 5 ms, 125 times the median"},
                      Case{"an edge that is somewhat long",
                           [](Inspection& seen) {
                             for (Edge& edge : seen.edges) edge.latency = 2e-3;
                             seen.edges[2].latency = 6e-3;
                           },
                           Verdict::kFine, "latency", "2 ms to 6 ms"},
                      Case{"a difference too small to count",
                           [](Inspection& seen) { seen.edges[2].latency = 900e-6; }, Verdict::kFine,
                           "latency", "40 us to 900 us"}));

TEST(Judgement, TellsServicesFromPodsByTheirNames) {
  Inspection inspection = fine_inspection();
  EXPECT_EQ(finding_of(judge(inspection), "names").found, "");
  inspection.hosts[0].name = "a-0.a.space.svc.cluster.local";
  inspection.hosts[1].name = "b.space.svc";
  inspection.hosts[2].name = "c.space.svc.cluster.local";
  const Judgement judgement = judge(inspection);
  EXPECT_EQ(judgement.verdict, Verdict::kFine);
  EXPECT_EQ(finding_of(judgement, "names").found,
            "Services, not pods: b.space.svc, c.space.svc.cluster.local");
  EXPECT_THAT(finding_of(judgement, "names").advice, HasSubstr("publishNotReadyAddresses: true"));
}

TEST(Judgement, GivesTheFirstOfTheWorstAsTheReason) {
  Inspection inspection = fine_inspection();
  inspection.edges[0].bandwidth = 1;
  facts_of(inspection, 1).program_trouble = "gone";
  inspection.options.rank_count = 7;
  const Judgement judgement = judge(inspection);
  EXPECT_EQ(judgement.verdict, Verdict::kUnusable);
  EXPECT_THAT(judgement.reason, HasSubstr("program: "));
}

TEST(Judgement, OfOneHostLooksAtWhatItHasAlone) {
  Inspection inspection{.hosts = {host_of("a")}};
  inspection.hosts[0].address.clear();
  inspection.options.rank_count = 3;
  const Judgement judgement = judge(inspection);
  EXPECT_EQ(judgement.verdict, Verdict::kDegraded);  // The ranks share cores.
  EXPECT_EQ(finding_of(judgement, "hosts").found, "this host alone: a");
  std::vector<std::string> checks;
  for (const Finding& finding : judgement.findings) checks.push_back(finding.check);
  EXPECT_THAT(checks, ElementsAre("hosts", "version", "features", "program", "ranks", "files",
                                  "limits", "memory", "/dev/shm"));
  EXPECT_TRUE(judgement.edges.empty());
}

TEST(Judgement, NamesEightHostsAndCountsTheOthers) {
  Inspection inspection;
  for (int host = 0; host < 12; ++host) {
    inspection.hosts.push_back(host_of("h" + std::to_string(host)));
  }
  EXPECT_THAT(finding_of(judge(inspection), "hosts").found, HasSubstr(", h7 (h7:7701), 4 more"));
}

Edge edge_of(double latency, double bandwidth) {
  return {.latency = latency, .bandwidth = bandwidth};
}

// The median of two edges could be either edge. Compared with the worse edge, no edge would be
// slow.
TEST(Rating, OfTwoEdgesIsByTheBetterOne) {
  const auto ratings = rate({edge_of(2e-3, 40), edge_of(50e-6, 100)});
  EXPECT_DOUBLE_EQ(ratings[0].bandwidth_ratio, 0.4);
  EXPECT_DOUBLE_EQ(ratings[0].latency_ratio, 40);
  EXPECT_TRUE(ratings[0].has_low_bandwidth);
  EXPECT_TRUE(ratings[0].has_long_latency);
  EXPECT_FALSE(ratings[1].is_slow());
}

TEST(Rating, IsByTheMedianOfAll) {
  const auto ratings =
      rate({edge_of(1, 10), edge_of(1, 49), edge_of(1, 100), edge_of(1, 101), edge_of(1, 900)});
  EXPECT_TRUE(ratings[0].has_low_bandwidth);
  EXPECT_TRUE(ratings[1].has_low_bandwidth);
  EXPECT_FALSE(ratings[2].is_slow());
  EXPECT_FALSE(ratings[4].is_slow());
  EXPECT_DOUBLE_EQ(ratings[4].bandwidth_ratio, 9);
  EXPECT_TRUE(rate({}).empty());
}

TEST(Texts, HaveTheUnitThatFits) {
  EXPECT_EQ(bandwidth_text(1.25e9), "10 Gbit/s");
  EXPECT_EQ(bandwidth_text(11.8e6), "94.4 Mbit/s");
  EXPECT_EQ(bandwidth_text(1000), "8 kbit/s");
  EXPECT_EQ(latency_text(2.5), "2.5 s");
  EXPECT_EQ(latency_text(1.5e-3), "1.5 ms");
  EXPECT_EQ(latency_text(12.34e-6), "12.3 us");
}

}  // namespace
}  // namespace rota::preflight
