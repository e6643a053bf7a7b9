// Tests how ranks find rank 0 through a store, and what they learn if rank 0 cannot listen.
// Method: the store is a text.
#include "communicator/find_rank_zero.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rota/error.h>

#include "base/port_range.h"
#include "communicator/listening_ports.h"
#include "os/address.h"
#include "stores/pmix_calls.h"
#include "testing/error_of.h"
#include "testing/fake_pmix.h"
#include "testing/few_descriptors.h"
#include "testing/own_ports.h"
#include "testing/paths.h"

namespace rota {
namespace {

using ::testing::HasSubstr;

class TextStore : public stores::Store {
 public:
  std::string share(const std::string& word, base::TimePoint) override {
    if (!word.empty()) text_ = word;
    return text_;
  }

 private:
  std::string text_;
};

JobByHand job_of(std::size_t rank) {
  JobByHand job{.rank = rank, .meeting = "pmix"};
  job.table.rows.resize(2);
  return job;
}

TEST(FindRankZero, BringsTheKeyAndAPlace) {
  TextStore store;
  const FoundRankZero own = find_rank_zero(job_of(0), store, std::nullopt, base::Clock::now());
  const FoundRankZero found = find_rank_zero(job_of(1), store, std::nullopt, base::Clock::now());
  EXPECT_TRUE(own.listener);
  EXPECT_EQ(found.key, own.key);
  EXPECT_THAT(found.places, ::testing::ElementsAre(HasSubstr("127.0.0.1:")));
}

// No other container reaches a local name. It may reach a port.
TEST(FindRankZero, ListensAtAPortOfOneMachineIfAKeyIsNamed) {
  for (const bool names_key : {false, true}) {
    TextStore store;
    std::vector<JobByHand> jobs = {job_of(0), job_of(1)};
    for (JobByHand& job : jobs) {
      for (RankRow& row : job.table.rows) row.host = "a";
      if (names_key) job.key = std::string(32, 'k');
    }
    const FoundRankZero own = find_rank_zero(jobs[0], store, std::nullopt, base::Clock::now());
    const FoundRankZero found = find_rank_zero(jobs[1], store, std::nullopt, base::Clock::now());
    EXPECT_TRUE(own.listener);
    EXPECT_EQ(meets_at_local_name(jobs[1]), !names_key);
    EXPECT_THAT(found.places,
                ::testing::ElementsAre(HasSubstr(names_key ? "127.0.0.1:" : "@rota-")));
  }
}

TEST(FindRankZero, RefusesAKeyFileThatOnlySomeRanksHave) {
  for (const std::size_t owner : {0, 1}) {
    TextStore store;
    std::vector<JobByHand> jobs = {job_of(0), job_of(1)};
    jobs[owner].key = std::string(32, 'k');
    (void)find_rank_zero(jobs[0], store, std::nullopt, base::Clock::now());
    const auto error = testing::error_of(
        [&] { (void)find_rank_zero(jobs[1], store, std::nullopt, base::Clock::now()); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kMismatch);
    EXPECT_EQ(error->blamed_rank(), std::size_t{0});
    EXPECT_THAT(error->what(), HasSubstr("rank " + std::to_string(owner) + " has a key file, but"));
    EXPECT_THAT(error->what(), HasSubstr("set ROTA_KEY_FILE for all ranks, or for none"));
  }
}

TEST(FindRankZero, RefusesAWordThatIsCut) {
  TextStore store;
  const FoundRankZero own = find_rank_zero(job_of(0), store, std::nullopt, base::Clock::now());
  const std::string word = store.share({}, base::Clock::now());
  const auto refusal_of = [](const std::string& text) {
    TextStore other;
    (void)other.share(text, base::Clock::now());
    const auto error = testing::error_of(
        [&] { (void)find_rank_zero(job_of(1), other, std::nullopt, base::Clock::now()); });
    EXPECT_TRUE(error && error->code() == ErrorCode::kBadData) << text;
    return error ? std::string(error->what()) : "nothing was refused";
  };
  EXPECT_THAT(refusal_of(word.substr(0, 20)),
              HasSubstr("word in the launcher's store is malformed"));
  const std::size_t key = word.find(';', word.find(';') + 1) + 1;
  for (const char* digits : {"", "0x", "g0", " 1", "-1"}) {
    std::string other = word;
    other.replace(key, 2, digits);
    EXPECT_THAT(refusal_of(other), HasSubstr("rank 0's key in the launcher's store is malformed"));
  }
}

TEST(FindRankZero, KnowsTheNamesOfMpis) {
  const auto found = [](const std::string& path) {
    return mpi_library_among({"linux-vdso.so.1", path, "/lib/libc.so.6"});
  };
  EXPECT_EQ(found("/usr/lib/x86_64-linux-gnu/libmpi.so.40"), "libmpi.so.40");
  EXPECT_EQ(found("/opt/intel/lib/libmpi.so.12"), "libmpi.so.12");
  EXPECT_EQ(found("libmpich.so.12"), "libmpich.so.12");
  EXPECT_EQ(found("/opt/mpich/lib/libmpi_abi.so.0"), "libmpi_abi.so.0");
  EXPECT_EQ(found("/usr/lib/librota_mpi_mpich.so.0"), "");
  EXPECT_EQ(found("/usr/lib/libmpir.so.23"), "") << "a library of large numbers";
  EXPECT_EQ(found("/usr/lib/libmpi.so.d/libx.so"), "");
}

// Method: an empty library has the name of an MPI. No server is at the descriptor: rota must refuse
// before it looks there.
TEST(FindRankZero, LeavesTheServerOfPmiToAnMpiThatIsLoaded) {
  JobByHand job = job_of(0);
  job.meeting = "pmi:999";
  const auto refusal = [&] {
    return testing::error_of([&] { (void)open_store(job, base::Clock::now()); });
  };
  const std::string path = testing::test_path("communicator/libmpi/libmpi.so");
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto with_mpi = refusal();
  ::dlclose(library);
  ASSERT_TRUE(with_mpi);
  EXPECT_EQ(with_mpi->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(with_mpi->what(), HasSubstr("this process has loaded libmpi.so"));
  EXPECT_THAT(with_mpi->what(), HasSubstr("make the communicator with rota::mpi::communicator"));
  const auto without_mpi = refusal();
  ASSERT_TRUE(without_mpi);
  EXPECT_THAT(without_mpi->what(), HasSubstr("this process has no socket there"));
}

// Method: the server is that of a fake libpmix in this process.
TEST(FindRankZero, RefusesVariablesThatContradictTheServerOfPmix) {
  testing::fake_pmix() = {.rank = 1, .values = {{stores::pmix::kJobSize, std::uint32_t{3}}}};
  const auto refusal_of = [](std::size_t rank, std::size_t world_size) {
    JobByHand job = job_of(rank);
    job.table.source = "Open MPI";
    job.table.rows.resize(world_size);
    return testing::error_of(
        [&] { (void)open_store(job, base::Clock::now() + std::chrono::seconds(20)); });
  };
  EXPECT_FALSE(refusal_of(1, 3));
  for (const auto& [rank, world_size] : {std::pair(1, 4), std::pair(0, 3)}) {
    const auto error =
        refusal_of(static_cast<std::size_t>(rank), static_cast<std::size_t>(world_size));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(
        error->what(),
        HasSubstr("Open MPI and the launcher's PMIx server contradict each other: Open MPI "
                  "says rank " +
                  std::to_string(rank) + " of " + std::to_string(world_size) +
                  "; the server says rank 1 of 3; start the program with only one of them"));
  }
  EXPECT_EQ(testing::fake_pmix().connections, 0) << "a refused store is still connected";
}

// Method: two jobs have one range, of which the second and the third port are free. The test itself
// holds the first one.
TEST(FindRankZero, ListensAtThePortsThatAreGiven) {
  const testing::OwnPorts own;
  const auto first = static_cast<std::uint16_t>(std::stoul(own.first()));
  const base::PortRange ports{.first = first, .last = static_cast<std::uint16_t>(first + 2)};
  TextStore store;
  const auto listen = [&] { return find_rank_zero(job_of(0), store, ports, base::Clock::now()); };
  const FoundRankZero one = listen();
  EXPECT_EQ(os::local_address(one.listener.get()).port(), first + 1);
  const FoundRankZero found = find_rank_zero(job_of(1), store, ports, base::Clock::now());
  EXPECT_THAT(found.places, ::testing::ElementsAre("127.0.0.1:" + own.port(1)));
  const FoundRankZero two = listen();
  EXPECT_EQ(os::local_address(two.listener.get()).port(), first + 2);
  const auto error = testing::error_of([&] { (void)listen(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kSystem);
  EXPECT_THAT(error->what(), HasSubstr("none of the ports " + own.port(0) + " to " + own.port(2) +
                                       " (ROTA_PORTS)"));
  EXPECT_THAT(error->what(), HasSubstr("set ROTA_PORTS to a wider range"));
}

TEST(ListeningPorts, AreThoseOfTheOptionsOrOfTheVariable) {
  CommunicatorOptions options;
  ::unsetenv("ROTA_PORTS");
  EXPECT_FALSE(listening_ports(options));
  ::setenv("ROTA_PORTS", "7701-7709", 1);
  const auto of_variable = listening_ports(options);
  options.ports = "81-81";
  const auto of_options = listening_ports(options);
  ::unsetenv("ROTA_PORTS");
  ASSERT_TRUE(of_variable && of_options);
  EXPECT_EQ(of_variable->first, 7701);
  EXPECT_EQ(of_variable->last, 7709);
  EXPECT_EQ(of_options->first, 81);
  EXPECT_EQ(of_options->last, 81);
  options.ports = "65536-70000";
  const auto error = testing::error_of([&] { (void)listening_ports(options); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(error->what(),
              HasSubstr("CommunicatorOptions::ports is '65536-70000': expected FIRST-LAST"));
}

// Without this word, the other ranks would wait for rank 0 until their deadline.
TEST(FindRankZero, TellsTheOthersThatRankZeroCannotListen) {
  TextStore store;
  const auto own = testing::with_descriptor_limit(0, [&] {
    return testing::error_of(
        [&] { (void)find_rank_zero(job_of(0), store, std::nullopt, base::Clock::now()); });
  });
  ASSERT_TRUE(own);
  const auto error = testing::error_of(
      [&] { (void)find_rank_zero(job_of(1), store, std::nullopt, base::Clock::now()); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kPeerLost);
  EXPECT_EQ(error->blamed_rank(), std::size_t{0});
  EXPECT_STREQ(error->what(),
               "rank 0 could not listen for the other ranks: its own error says why");
}

}  // namespace
}  // namespace rota
