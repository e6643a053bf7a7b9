// rotarun-pmix makes a world of Open MPI ranks. Method: the test speaks rotarun's part of the
// conversation, and starts real Open MPI programs. Several servers in one test are several hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>

#include "base/time.h"
#include "launcher/pmix/wire/pmix_link.h"
#include "os/file.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/pipe.h"
#include "os/process.h"
#include "testing/paths.h"
#include "testing/process.h"

namespace rota::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Type = PmixMessageType;

constexpr std::chrono::seconds kPatience{60};

// The server of one host, and what it has said.
class Server {
 public:
  Server(PmixJob job, const std::string& folder) {
    job.folder = folder + "/host" + std::to_string(job.own_node);
    job.user = os::own_user();
    job.group = ::getgid();
    std::filesystem::create_directory(job.folder);
    folder_ = job.folder;
    auto [ours, theirs] = os::make_message_socket_pair();
    const os::Fd null = os::open_null();
    os::ProcessPlan plan;
    plan.program = testing::bin_path("rotarun-pmix");
    plan.arguments = {"rotarun-pmix", std::to_string(theirs.get())};
    plan.environment = os::environment();
    plan.standard_input = null.get();
    plan.kept_fds = {theirs.get()};
    plan.own_session = true;
    pid_ = os::start_process(plan);
    link_ = std::make_unique<PmixLink>(std::move(ours));
    link_->send({.type = Type::kJob, .text = encode(job)});
  }
  Server(Server&&) = delete;
  ~Server() { end(); }

  // Closes the connection, and waits for the process to end.
  void end() {
    if (pid_ < 0) return;
    link_->close();
    const auto limit = base::Clock::now() + kPatience;
    while (base::Clock::now() < limit) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = -1;
        return;
      }
      ::usleep(1000);
    }
    ADD_FAILURE() << "the server does not end";
    ::kill(pid_, SIGKILL);
  }

  void add_to(os::PollSet& polls) const { link_->add_to(polls); }
  void send(const PmixMessage& message) { link_->send(message); }
  bool is_open() const { return link_->is_open(); }
  const std::string& folder() const { return folder_; }

  // Takes what the server has said, and sends what is to be sent.
  void turn() {
    link_->send_all();
    for (PmixMessage& message : link_->receive()) {
      if (message.type == Type::kEnvironment) {
        const auto variables = decode_variables(message.text);
        ASSERT_TRUE(variables);
        environments[message.rank] = *variables;
      }
      said.push_back(std::move(message));
    }
  }

  std::vector<std::uint32_t> ranks_of(Type type) const {
    std::vector<std::uint32_t> ranks;
    for (const PmixMessage& message : said) {
      if (message.type == type) ranks.push_back(message.rank);
    }
    std::ranges::sort(ranks);
    return ranks;
  }

  std::map<std::uint32_t, std::vector<std::string>> environments;
  std::vector<PmixMessage> said;

 private:
  pid_t pid_ = -1;
  std::unique_ptr<PmixLink> link_;
  std::string folder_;
};

class PmixServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "pmix_server_" + std::to_string(os::own_process());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    ranks_.clear();
    servers_.clear();
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "the servers have removed their folders";
    std::filesystem::remove_all(folder_);
  }

  // Starts a server for each host, and waits for the environments.
  void start_servers(const std::vector<std::vector<std::uint32_t>>& ranks) {
    PmixJob job{.name = "test-" + std::to_string(os::own_process()) + "-" +
                        std::to_string(base::Clock::now().time_since_epoch().count())};
    for (std::size_t host = 0; host < ranks.size(); ++host) {
      job.nodes.push_back({.name = "host" + std::to_string(host), .ranks = ranks[host]});
    }
    for (std::size_t host = 0; host < ranks.size(); ++host) {
      job.own_node = static_cast<std::uint32_t>(host);
      job.programs.assign(ranks[host].size(), 0);
      servers_.push_back(std::make_unique<Server>(job, folder_));
    }
    ASSERT_TRUE(turn_until([&] {
      for (std::size_t host = 0; host < ranks.size(); ++host) {
        if (servers_[host]->environments.size() != ranks[host].size()) return false;
      }
      return true;
    }));
  }

  void start_rank(std::uint32_t rank, std::vector<std::string> arguments) {
    testing::Command command{.arguments = std::move(arguments)};
    for (const auto& server : servers_) {
      const auto found = server->environments.find(rank);
      if (found != server->environments.end()) command.environment = found->second;
    }
    for (const char* variable :
         {"JSM_JSRUN_PORT=0", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=tcp,vader,self",
          "OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_btl_vader_backing_directory=/dev/shm"}) {
      command.environment.emplace_back(variable);
    }
    ranks_.push_back(std::make_unique<testing::Process>(std::move(command)));
  }

  // Starts all ranks, and brings the servers' messages to each other until all ranks have ended.
  std::vector<std::string> run_all(const std::vector<std::string>& arguments) {
    for (const auto& server : servers_) {
      for (const auto& [rank, environment] : server->environments) start_rank(rank, arguments);
    }
    std::vector<std::string> lines;
    for (const auto& rank : ranks_) {
      EXPECT_TRUE(turn_until([&] { return testing::state_of(rank->pid()) == 'Z'; }));
      const testing::Result result = rank->wait();
      EXPECT_EQ(result.exit_code, 0) << result.err;
      lines.push_back(result.out);
    }
    turn_until([] { return true; });
    std::ranges::sort(lines);
    return lines;
  }

  template <class Condition>
  bool turn_until(const Condition& is_done) {
    const auto limit = base::Clock::now() + kPatience;
    while (base::Clock::now() < limit) {
      for (const auto& server : servers_) server->turn();
      carry_fences();
      if (is_done()) return true;
      os::PollSet polls;
      for (const auto& server : servers_) {
        if (server->is_open()) server->add_to(polls);
      }
      polls.wait(base::Clock::now() + std::chrono::milliseconds(5));
    }
    return false;
  }

  // Joins the contributions to each fence, once all hosts have sent one.
  void carry_fences() {
    if (servers_.size() == 1) return;
    for (const auto& server : servers_) {
      for (; seen_[server.get()] < server->said.size(); ++seen_[server.get()]) {
        const PmixMessage& message = server->said[seen_[server.get()]];
        if (message.type != Type::kFence) continue;
        const auto fence = decode_pmix_fence(message.text);
        ASSERT_TRUE(fence);
        PmixFence& whole = fences_[fence->number];
        whole.number = fence->number;
        whole.data += fence->data;
        if (++contributions_[fence->number] < servers_.size()) continue;
        for (const auto& each : servers_)
          each->send({.type = Type::kFenced, .text = encode(whole)});
      }
    }
  }

  std::string folder_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<testing::Process>> ranks_;
  std::map<const Server*, std::size_t> seen_;
  std::map<std::uint32_t, PmixFence> fences_;
  std::map<std::uint32_t, std::size_t> contributions_;
};

using Ranks = std::vector<std::uint32_t>;

TEST_F(PmixServerTest, MakesAWorldOfTheRanksOfOneHost) {
  start_servers({{0, 1}});
  EXPECT_EQ(run_all({testing::test_path("mpi_hello")}),
            (std::vector<std::string>{"0 of 2\n", "1 of 2\n"}));
  EXPECT_EQ(servers_[0]->ranks_of(Type::kConnected), (Ranks{0, 1}));
  EXPECT_EQ(servers_[0]->ranks_of(Type::kFinalized), (Ranks{0, 1}));
  EXPECT_THAT(servers_[0]->ranks_of(Type::kFence), IsEmpty()) << "nobody else takes part";
}

TEST_F(PmixServerTest, FencesWithOtherHosts) {
  start_servers({{0, 2}, {1}});
  EXPECT_EQ(run_all({testing::test_path("mpi_hello")}),
            (std::vector<std::string>{"0 of 3\n", "1 of 3\n", "2 of 3\n"}));
  for (const auto& server : servers_) EXPECT_GE(server->ranks_of(Type::kFence).size(), 2U);
  EXPECT_FALSE(fences_[0].data.empty()) << "the first fence collects data";
  EXPECT_EQ(servers_[0]->ranks_of(Type::kFinalized), (Ranks{0, 2}));
  EXPECT_EQ(servers_[1]->ranks_of(Type::kFinalized), (Ranks{1}));
}

TEST_F(PmixServerTest, TakesNoSocketForAnAnswer) {
  const testing::Result result =
      testing::run({.arguments = {testing::bin_path("rotarun-pmix"), "0"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is started by rotarun"));
}

}  // namespace
}  // namespace rota::launcher
