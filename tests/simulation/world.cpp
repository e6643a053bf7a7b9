// Builds a world from the real parts, and judges how its ranks ended.
#include "simulation/world.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/transports.h"
#include "collectives/mpi/run.h"
#include "communicator/thread_world.h"
#include "os/shared_mapping.h"
#include "simulation/rank.h"
#include "transport/mixed_transport.h"
#include "transport/mpi/transport.h"
#include "transport/shm/transport.h"
#include "transport/tcp/transport.h"

namespace rota::simulation {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{4} << 20;

constexpr std::size_t kBoardBytes = 64;

// No correct wait lasts this long, whatever the deadline is. If a rank still waits after this time,
// it waits for ever.
constexpr std::chrono::seconds kForEver{60};

rendezvous::Job job_of(const Scenario& scenario) {
  rendezvous::Job job;
  job.domains = scenario.domains;
  job.hands_descriptors = false;
  for (std::size_t rank = 0; rank < scenario.world_size(); ++rank) {
    job.table.rows.push_back({.local_rank = rank, .host = "simulated", .address = {}, .cores = {}});
  }
  return job;
}

}  // namespace

World::World(const Scenario& scenario)
    : scenario_(scenario),
      random_(scenario.seed ^ 0x5eed),
      scheduler_(random_, scenario.switch_one_in),
      memory_(scheduler_, random_, scenario.lateness, scenario.late),
      streams_(scheduler_, memory_, random_),
      machine_{scheduler_, memory_, streams_},
      under_way_(scenario.world_size()),
      ending_{.outcomes = std::vector<Outcome>(scenario.world_size())} {
  memory_.on_store([this] { before_act(); });
  streams_.on_call([this] { before_act(); });
  SimulatedDevices::use_table();
  if (scenario.on_device != 0) {
    devices_.emplace(random_.next(), [this] { return before_device_call(); });
    scheduler_.on_switch([this] {
      while (!random_.one_in(3)) devices_->work();
    });
  }
  if (scenario.has_launcher) launcher_.emplace(scheduler_, memory_, random_, job_of(scenario));
}

std::vector<std::unique_ptr<transport::Transport>> World::make_transports() {
  const base::Domains& domains = scenario_.domains;
  const std::size_t n = domains.size();
  std::vector<std::vector<auth::Stream>> streams(n);
  for (auto& own : streams) own.resize(n);
  for (std::size_t rank = 0; rank < n && !scenario_.is_in_memory(); ++rank) {
    for (std::size_t peer = rank + 1; peer < n; ++peer) {
      const auto [one, other] = streams_.connect(rank, peer);
      streams[rank][peer] = os::Fd(one);
      streams[peer][rank] = os::Fd(other);
    }
  }
  std::map<std::uint32_t, std::shared_ptr<transport::shm::Domain>> mapped;
  std::vector<std::unique_ptr<transport::Transport>> transports;
  for (std::size_t rank = 0; rank < n; ++rank) {
    const auto local_peers = base::domain_of(domains, rank);
    if (local_peers.size() == 1) {
      transports.push_back(std::make_unique<transport::tcp::Transport>(
          std::move(streams[rank]), base::transport_between(domains)));
      continue;
    }
    auto& domain = mapped[domains[rank]];
    if (!domain) {
      std::vector<os::Fd> arenas;
      for (std::size_t i = 0; i < local_peers.size(); ++i) {
        arenas.push_back(os::make_shared_memory("simulated", kArenaBytes));
      }
      domain = std::make_shared<transport::shm::Domain>(std::move(arenas));
      for (std::size_t i = 0; i < local_peers.size(); ++i) {
        memory_.add_arena(domain->bytes(i), transport::shm::front_bytes(local_peers.size()));
      }
    }
    auto inside = std::make_unique<transport::shm::Transport>(
        domain, base::index_in(local_peers, rank), local_peers);
    if (scenario_.is_in_memory()) {
      transports.push_back(std::move(inside));
    } else {
      transports.push_back(std::make_unique<transport::MixedTransport>(
          std::move(inside), local_peers, std::move(streams[rank])));
    }
  }
  return transports;
}

std::vector<Communicator> World::make_communicators() {
  // Without a launcher, ranks share a board of a few whole words, in which each announces that it
  // leaves.
  if (!launcher_) {
    board_ = std::make_shared<Board>(kBoardBytes);
    memory_.add_arena({reinterpret_cast<std::byte*>(board_->data()), kBoardBytes}, kBoardBytes);
  }
  std::vector<std::shared_ptr<Membership>> memberships;
  for (std::size_t rank = 0; rank < scenario_.world_size(); ++rank) {
    auto& own =
        memberships.emplace_back(std::make_shared<Membership>(rank, scenario_.world_size()));
    if (launcher_) {
      own->connect(rendezvous::Client(launcher_->line_of(rank), 0), nullptr);
    } else {
      own->connect(board_);
    }
  }
  CommunicatorOptions options;
  options.plan = scenario_.plan;
  options.deadline = scenario_.deadline;
  options.kernels = "scalar";
  if (scenario_.is_over_mpi) return make_communicators_over_mpi(options, std::move(memberships));
  return ThreadWorld::over(scenario_.domains, make_transports(), options, memberships);
}

std::vector<Communicator> World::make_communicators_over_mpi(
    const CommunicatorOptions& options, std::vector<std::shared_ptr<Membership>> memberships) {
  mpi_.emplace(scenario_.world_size(), random_.next(), [this] { before_act(); });
  std::vector<std::unique_ptr<transport::Transport>> transports;
  std::vector<std::unique_ptr<collectives::Method>> methods;
  for (std::size_t rank = 0; rank < scenario_.world_size(); ++rank) {
    const auto world = mpi_->world_of(rank);
    transports.push_back(transport::mpi::transport_of_all(world));
    methods.push_back(std::make_unique<collectives::MpiCollectives>(world));
  }
  return ThreadWorld::over(scenario_.domains, std::move(transports), options,
                           std::move(memberships), std::move(methods));
}

std::vector<std::string> World::run(Coverage& coverage) {
  auto communicators = make_communicators();
  for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
    auto own = std::make_shared<Communicator>(std::move(communicators[rank]));
    scheduler_.start(rank, [this, rank, own] {
      machine = &machine_;
      std::optional<Error> error;
      try {
        Rank(*this, std::move(*own)).live();
      } catch (const Error& caught) {
        error = caught;
      }
      end(rank, std::move(error));
      machine = nullptr;
    });
  }
  if (!scheduler_.run(scheduler_.now() + kForEver)) report("somebody waits for ever");
  if (devices_ && !devices_->fake().crime().empty()) report(devices_->fake().crime());
  if (ending_.has_failed) coverage.add(scenario_, failed_in_);
  const Oracle oracle(scenario_, ending_);
  for (std::size_t rank = 0; rank < scenario_.world_size(); ++rank) {
    if (const auto finding = oracle.finding(rank)) report(*finding);
  }
  return findings_;
}

// Applies the failure of the one rank that is to fail, in the middle of what it does.
void World::before_act() {
  if (scheduler_.rank() != scenario_.failing || ++act_count_ != scenario_.act) return;
  switch (scenario_.failure) {
    case Failure::kDies:
      note_failure(scenario_.failing);
      streams_.end(scenario_.failing);
      if (launcher_) launcher_->on_end(scenario_.failing, "was killed by signal 9 (Killed)");
      scheduler_.end_here();
    case Failure::kStops:
      note_failure(scenario_.failing);
      scheduler_.end_here();
    case Failure::kPauses:
      note_failure(scenario_.failing);
      return scheduler_.stop_for(scenario_.pause);
    case Failure::kStarves:
      note_failure(scenario_.failing);
      return streams_.starve(scenario_.failing);
    case Failure::kFaults:
      is_faulted_ = under_way_[scenario_.failing] != nullptr;
      return;
    default:
      return;
  }
}

// Returns the error of a device call: of a fault, after which every call fails, or of one call.
int World::before_device_call() {
  constexpr int kInvalidArgument = 1;
  constexpr int kIllegalAddress = 700;
  before_act();
  if (!is_faulted_ || scheduler_.rank() != scenario_.failing) return 0;
  if (!ending_.has_failed) note_failure(scenario_.failing);
  is_faulted_ = scenario_.fault_stays;
  return is_faulted_ ? kIllegalAddress : kInvalidArgument;
}

void World::note_failure(std::size_t rank) {
  ending_.has_failed = true;
  ending_.is_before_last = under_way_[rank] != &kLast;
  if (!under_way_[rank]) return;
  for (const Call& call : *under_way_[rank]) failed_in_.set(static_cast<std::size_t>(call.kind));
}

bool World::agrees(std::size_t number, const std::vector<std::byte>& result) {
  return results_.try_emplace(number, result).first->second == result;
}

void World::end(std::size_t rank, std::optional<Error> error) {
  ending_.outcomes[rank] = {.is_over = true, .error = std::move(error)};
  if (launcher_) launcher_->on_end(rank, "ended");
}

}  // namespace rota::simulation
