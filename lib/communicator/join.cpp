// Asks the launcher for the job, makes its transport and meets the other ranks.
#include "communicator/join.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "os/host.h"
#include "os/message_socket.h"
#include "transport/shm/transport.h"
#include "transport/tcp/connect.h"
#include "transport/tcp/transport.h"

namespace rota {
namespace {

using base::Clock;

constexpr std::chrono::nanoseconds kLongestJoin = std::chrono::hours(24 * 365);

// The launcher left one descriptor, and one communicator can have it.
std::atomic_flag joined;

Group world_of_one() {
  Group group;
  group.table.source = "started by hand";
  group.table.transport = "none";
  group.table.rows.push_back(
      {.local_rank = 0, .host = os::host_name(), .address = {}, .cores = {}});
  group.members = {0};
  return group;
}

// While ranks join, nobody may end: whoever does is missed.
void throw_if_somebody_ended(rendezvous::Client& client) {
  while (const auto notice = client.next_notice()) {
    const bool departed = notice->type == rendezvous::MessageType::kDeparted;
    const ErrorCode code = departed ? ErrorCode::kPeerLost : ErrorCode::kAborted;
    if (!notice->blamed) throw Error(code, notice->text);
    const std::string who = departed ? "rank " + std::to_string(*notice->blamed) + " " : "";
    throw Error(code, who + notice->text, *notice->blamed);
  }
}

std::unique_ptr<transport::Transport> make_transport(rendezvous::Client::Welcome& welcome,
                                                     rendezvous::Client& client,
                                                     base::TimePoint deadline) {
  const rendezvous::Job& job = welcome.job;
  if (job.table.transport == "shm") {
    auto domain = std::make_shared<transport::shm::Domain>(std::move(welcome.fds));
    return std::make_unique<transport::shm::Transport>(std::move(domain), job.rank);
  }
  if (job.table.transport == "tcp") {
    transport::tcp::ConnectOptions options{
        .rank = job.rank,
        .addresses = {},
        .nonce = job.nonce,
        .epoch = job.table.epoch,
        .look_around = [&client] { throw_if_somebody_ended(client); }};
    for (const RankRow& row : job.table.rows) options.addresses.push_back(row.address);
    const os::Fd listener = std::move(welcome.fds.front());
    return std::make_unique<transport::tcp::Transport>(
        transport::tcp::connect_all(options, listener.get(), deadline));
  }
  throw Error(ErrorCode::kSystem, "the launcher chose the transport '" + job.table.transport +
                                      "', which this program does not know");
}

// Ranks that were told different things would fail later, and less clearly.
void compare_options(const Group& group, rendezvous::Client& client,
                     const CommunicatorOptions& options, base::TimePoint deadline) {
  const std::string own = "plan " + options.plan;
  if (group.rank == 0) client.put("options", own);
  client.barrier("arrived", deadline - Clock::now());
  const std::string first = client.get("options", deadline - Clock::now());
  if (own != first) {
    throw Error(ErrorCode::kMismatch, "rank " + std::to_string(group.rank) + " was given " + own +
                                          ", rank 0 was given " + first);
  }
}

Group connect(rendezvous::Client client, const CommunicatorOptions& options) {
  const auto deadline = Clock::now() + std::min(options.join_timeout, kLongestJoin);
  auto welcome = client.join(deadline);
  Group group;
  group.rank = welcome.job.rank;
  group.table = welcome.job.table;
  group.deadline = options.deadline.value_or(welcome.job.deadline);
  group.may_spin = welcome.job.may_spin;
  group.verbose = welcome.job.verbose;
  try {
    compare_options(group, client, options, deadline);
    if (group.world_size() > 1) {
      group.transport = make_transport(welcome, client, deadline);
      client.barrier("joined", deadline - Clock::now());
    }
  } catch (const Error& error) {
    // Says so before the process ends, so that the launcher blames the right rank.
    client.abort(error.code(), error.blamed_rank(), error.what());
    throw;
  }
  group.members.resize(group.world_size());
  std::iota(group.members.begin(), group.members.end(), std::size_t{0});
  group.membership = std::make_shared<Membership>(group.rank, group.world_size());
  group.membership->connect(std::move(client));
  return group;
}

}  // namespace

Group join(const CommunicatorOptions& options) {
  if (!options.rendezvous_fd) return world_of_one();
  if (joined.test_and_set()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a process can join its job once; more communicators come from split()");
  }
  if (!os::is_message_socket(*options.rendezvous_fd)) {
    joined.clear();
    throw Error(ErrorCode::kInvalidArgument,
                "descriptor " + std::to_string(*options.rendezvous_fd) +
                    " does not lead to rotarun: start this program by it");
  }
  os::Fd socket(*options.rendezvous_fd);
  os::close_on_exec(socket.get());
  return connect(rendezvous::Client(std::move(socket)), options);
}

}  // namespace rota
