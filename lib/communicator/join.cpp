// Joins a job: gets the job's description from the launcher, makes the transport and connects to
// the other ranks.
#include "communicator/join.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/domains.h"
#include "base/transports.h"
#include "cluster/specification.h"
#include "collectives/mpi/run.h"
#include "communicator/blame.h"
#include "communicator/by_hand.h"
#include "communicator/find_rank_zero.h"
#include "communicator/first_word.h"
#include "communicator/listening_ports.h"
#include "communicator/tuned_file.h"
#include "communicator/with_nccl.h"
#include "device/claims.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "transport/fabric.h"
#include "transport/mpi/job_world.h"

namespace rota {
namespace {

using base::Clock;

// The part of join_timeout that is kept for the steps after the ranks have connected. If a tenth of
// join_timeout is less, the part is a tenth.
constexpr std::chrono::seconds kLastPart{1};

// The launcher has given this process one descriptor, or one access to its store, which only one
// communicator can use.
std::atomic_flag joined;

void require_first_time() {
  if (!joined.test_and_set()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "a process can join its job only once; split() creates more communicators");
}

RankTable own_table() {
  RankTable table;
  table.source = "started by hand";
  table.transport = base::kNoTransport;
  table.rows.push_back({.host = os::host_name()});
  return table;
}

base::Duration time_left(base::TimePoint deadline) {
  return std::max(base::Duration(0), base::Duration(deadline - Clock::now()));
}

// While ranks join, no rank may end: the others need it.
void throw_if_somebody_ended(rendezvous::Client& client) {
  while (const auto notice = client.next_notice()) {
    const bool departed = notice->type == rendezvous::MessageType::kDeparted;
    if (!departed && notice->type != rendezvous::MessageType::kAborted) continue;
    const bool mismatch = !departed && notice->error == ErrorCode::kMismatch;
    const ErrorCode code = departed   ? ErrorCode::kPeerLost
                           : mismatch ? ErrorCode::kMismatch
                                      : ErrorCode::kAborted;
    if (!notice->blamed) throw Error(code, notice->text);
    const std::string who = departed ? "rank " + std::to_string(*notice->blamed) + " " : "";
    throw Error(code, who + notice->text, *notice->blamed);
  }
}

transport::Descriptors take_descriptors(rendezvous::Client::Welcome& welcome, Arrival& arrival) {
  transport::Descriptors descriptors{.listener = std::move(arrival.listener),
                                     .arenas = std::move(welcome.fds)};
  const rendezvous::Job& job = welcome.job;
  if (job.hands_descriptors && base::listens(job.table.transport)) {
    descriptors.listener = std::move(descriptors.arenas.front());
    descriptors.arenas.erase(descriptors.arenas.begin());
  }
  return descriptors;
}

std::unique_ptr<transport::Transport> make_transport(rendezvous::Client::Welcome& welcome,
                                                     const base::Domains& domains, Arrival& arrival,
                                                     base::TimePoint deadline) {
  if (arrival.make_transport) return arrival.make_transport();
  const rendezvous::Job& job = welcome.job;
  transport::CallTerms terms{
      .addresses = {},
      .key = arrival.key.value_or(job.key),
      .encrypts = job.encrypts,
      .incarnation = job.incarnation,
      .epoch = job.table.epoch,
      .look_around = [&arrival] { throw_if_somebody_ended(arrival.client); },
      .report_wait = [&arrival](std::size_t peer) { arrival.client.report_waiting(peer); }};
  for (const RankRow& row : job.table.rows) terms.addresses.push_back(row.address);
  return transport::join(job.table.transport, {.domains = domains, .own = {job.rank}},
                         take_descriptors(welcome, arrival), terms, deadline);
}

// Ranks with different versions of NCCL cannot work together, so the version is a part of the plan.
std::string plan_of(const CommunicatorOptions& options) {
  std::string library = asks_for_nccl(options) ? " of " + nccl_of_this_rank() : "";
  if (asks_for_nccl(options) && options.registers_buffers) library += " with registered buffers";
  return "plan " + options.plan + library + ", codec " + std::string(to_string(options.codec));
}

// If the user gave the launcher a tuned file, all ranks use that file.
std::string tuned_file_for(const Group& group, const CommunicatorOptions& options) {
  return group.table.tuned.empty() ? options.tuned_file : group.table.tuned;
}

FirstWord own_word(const Group& group, const CommunicatorOptions& options) {
  FirstWord word{
      .rota = own_rota(), .plan = plan_of(options), .tuned_file = tuned_file_for(group, options)};
  if (!word.tuned_file.empty()) word.tuned_text = read_tuned_file(word.tuned_file);
  return word;
}

// Compares the versions of rota and the options of the ranks: differences would fail later, with a
// less clear message. If rank 0 has a tuned file in its options, the other ranks need none: all use
// the text that rank 0 has read.
void agree_on_options(Group& group, rendezvous::Client& client, const CommunicatorOptions& options,
                      base::TimePoint deadline) {
  if (group.rank == 0) client.put("options", encode(own_word(group, options)));
  client.barrier("arrived", time_left(deadline));
  const std::string published = client.get("options", time_left(deadline));
  require_same_rota(group.rank, rota_in_first_word(published));
  const FirstWord first = decode_first_word(published);
  const auto compare = [&](const std::string& own, const std::string& of_rank_0) {
    if (own == of_rank_0) return;
    throw Error(ErrorCode::kMismatch, "rank " + std::to_string(group.rank) + " was given " + own +
                                          ", but rank 0 was given " + of_rank_0);
  };
  compare(plan_of(options), first.plan);
  const std::string own = tuned_file_for(group, options);
  const std::string tuned_file = first.tuned_file.empty() ? "none" : first.tuned_file;
  if (!own.empty()) compare("the tuned file " + own, "the tuned file " + tuned_file);
  if (!first.tuned_file.empty()) give_tuned(group, first.tuned_file, first.tuned_text);
}

// Compares how the ranks of a domain lay out memory, before any of them writes to memory that they
// share. Ranks of different domains need not agree.
void agree_on_memory(const Group& group, rendezvous::Client& client, base::TimePoint deadline) {
  const std::vector<std::size_t> local_peers = base::domain_of(group.domains, group.rank);
  if (local_peers.size() == 1) return;
  const std::size_t first = local_peers.front();
  const std::string key = "memory of rank " + std::to_string(first);
  if (group.rank == first) return client.put(key, own_memory_layout());
  require_same_memory_layout(group.rank, first, client.get(key, time_left(deadline)));
}

// A launcher decides about encryption for all of its ranks. A rank that wants encryption does not
// join if the launcher does not encrypt.
void require_encryption(const rendezvous::Job& job, const CommunicatorOptions& options) {
  if (options.encrypt && job.table.transport == base::kOverMpi) {
    throw Error(ErrorCode::kMismatch,
                "rank " + std::to_string(job.rank) +
                    " is set to encrypt, but rota cannot encrypt what MPI sends: start rotarun "
                    "without --transport mpi");
  }
  if (!options.encrypt || job.encrypts || !base::listens(job.table.transport)) return;
  throw Error(
      ErrorCode::kMismatch,
      "rank " + std::to_string(job.rank) +
          " is set to encrypt TCP connections, but rotarun is not: start rotarun with --encrypt");
}

// Returns the domains that the launcher sent. If the launcher sent none, derives the domains from
// the transport's name. The transport of a world of one implies no domains.
base::Domains domains_of(const rendezvous::Job& job) {
  if (!job.domains.empty()) return job.domains;
  const std::size_t world_size = job.table.rows.size();
  return world_size == 1 ? base::each_alone(1)
                         : base::domains_over(job.table.transport, world_size);
}

// Returns whether the launcher has chosen MPI for the messages of the ranks.
bool goes_over_mpi(const Group& group, const Arrival& arrival) {
  return group.world_size() > 1 && !arrival.make_transport &&
         group.table.transport == base::kOverMpi;
}

// The other ranks get the text of this Error, too.
void require_nccl(const Group& group) {
  try {
    nccl_of_this_rank();
  } catch (const Error& error) {
    throw Error(error.code(), name_of(group.rank, group.table) + ": " + error.what());
  }
}

// Gives all ranks the name that rank 0 has made for their communicator of NCCL.
void join_nccl(Group& group, rendezvous::Client& client, const CommunicatorOptions& options,
               base::TimePoint deadline) {
  nccl::Id id{};
  auto* const bytes = reinterpret_cast<char*>(id.data());
  if (group.rank == 0) {
    id = make_nccl_id();
    client.put("nccl", {bytes, id.size()});
  }
  const std::string text = client.get("nccl", time_left(deadline));
  std::copy_n(text.begin(), std::min(text.size(), id.size()), bytes);
  add_nccl(group, id, options);
}

// Lets ranks that no rotarun has started learn where the others are. If their transport is made
// already, they learn only the hosts.
void meet(Group& group, rendezvous::Client::Welcome& welcome, Arrival& arrival,
          const CommunicatorOptions& options, base::TimePoint deadline) {
  meet_others(
      welcome, arrival, options, [&] { throw_if_somebody_ended(arrival.client); }, deadline);
  group.table = welcome.job.table;
  group.may_spin = welcome.job.may_spin;
}

}  // namespace

Group world_of_one(RankTable table, const CommunicatorOptions& options) {
  Group group;
  group.deadline =
      std::min<base::Duration>(options.deadline.value_or(kUsualDeadline), base::kForever);
  group.table = std::move(table);
  group.members = {0};
  group.domains = {0};
  if (asks_for_nccl(options)) {
    if (const auto id = nccl_id_of_one()) add_nccl(group, *id, options);
  }
  return group;
}

Group enter(Arrival arrival, const RankTable* table, const CommunicatorOptions& options,
            base::TimePoint deadline) {
  auto welcome =
      arrival.client.join(deadline, table ? rendezvous::encode_table(*table, {}) : std::string());
  Group group;
  group.rank = welcome.job.rank;
  group.table = welcome.job.table;
  group.key = arrival.key.value_or(welcome.job.key);
  group.encrypts = welcome.job.encrypts;
  group.deadline = std::min(options.deadline.value_or(welcome.job.deadline), base::kForever);
  group.may_spin = welcome.job.may_spin;
  group.verbose = welcome.job.verbose;
  try {
    require_encryption(welcome.job, options);
    group.ports = listening_ports(options);
    if (welcome.table_file) device::join_claims(std::move(welcome.table_file), group.rank);
    const bool is_over_mpi = goes_over_mpi(group, arrival);
    // Opened before agree_on_options(), where the others learn that a rank lacks the library. In
    // MPI_Init they would wait for that rank.
    if (is_over_mpi) transport::mpi::open_library(options.mpi_library);
    if (asks_for_nccl(options)) require_nccl(group);
    agree_on_options(group, arrival.client, options, deadline);
    if (arrival.on_all_here) arrival.on_all_here();
    const bool has_transport = arrival.make_transport != nullptr;
    if (table) {
      compare_tables(group.rank, *table, group.table);
      if (group.world_size() > 1) meet(group, welcome, arrival, options, deadline);
    }
    group.domains = has_transport ? base::each_alone(group.world_size()) : domains_of(welcome.job);
    if (group.world_size() > 1) {
      agree_on_memory(group, arrival.client, deadline);
      // Ranks that cannot reach a peer must have time to report that before the others time out.
      const base::Duration last_part =
          std::min<base::Duration>(time_left(deadline) / 10, kLastPart);
      group.transport = make_transport(welcome, group.domains, arrival, deadline - last_part);
      if (is_over_mpi) {
        group.methods.push_back(
            std::make_unique<collectives::MpiCollectives>(transport::mpi::job_world()));
      }
      if (asks_for_nccl(options)) join_nccl(group, arrival.client, options, deadline);
      arrival.client.barrier("joined", time_left(deadline));
    }
  } catch (const Error& error) {
    // Tell the coordinator before the process ends, so that the right rank is blamed.
    arrival.client.abort(error.code(), error.blamed_rank(), error.what());
    throw;
  }
  group.members.resize(group.world_size());
  std::iota(group.members.begin(), group.members.end(), std::size_t{0});
  group.membership = std::make_shared<Membership>(group.rank, group.world_size());
  group.membership->connect(std::move(arrival.client), std::move(arrival.coordinator));
  return group;
}

namespace {

Error with_hint(const Error& error, const std::string& hint) {
  const std::string text = error.what() + hint;
  const auto blamed = error.blamed_rank();
  return blamed ? Error(error.code(), text, *blamed) : Error(error.code(), text);
}

// Returns hints after a timeout of a rank that has waited for absent ranks. A rank that has waited
// for the store of the launcher blames no other rank.
std::string hint_for(const Error& timeout, const JobByHand& job, const RankTable& table) {
  std::string hint;
  if (table.source == cluster::kSlurmStep) {
    hint += "; the ranks are the tasks of Slurm step " + job.id +
            ", and each of them must run this program: in a shell of srun --pty, start it with "
            "rotarun --this-host";
  }
  if (timeout.blamed_rank() && meets_at_local_name(job)) {
    hint +=
        "; the ranks meet at a local name, which no other container reaches: if they are in "
        "several containers, set ROTA_KEY_FILE for all of them to a file of 32 random bytes or "
        "more";
    if (!is_store(job.meeting)) hint += ", and MASTER_ADDR to the address of rank 0";
    hint += "; then they meet over TCP";
  }
  return hint;
}

Group join_by_hand(const CommunicatorOptions& options, base::TimePoint deadline) {
  const RankTable table = complete_table(*options.by_hand);
  if (table.rows.size() == 1) return world_of_one(table, options);
  if (meet_through_store(*options.by_hand)) require_first_time();
  bool are_all_here = false;
  try {
    Arrival arrival = arrive_by_hand(options, table, deadline);
    arrival.on_all_here = [&] { are_all_here = true; };
    return enter(std::move(arrival), &table, options, deadline);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kTimeout || are_all_here) throw;
    throw with_hint(error, hint_for(error, *options.by_hand, table));
  }
}

}  // namespace

bool is_alone(const CommunicatorOptions& options) {
  if (options.rendezvous_fd) return false;
  if (options.by_hand) return complete_table(*options.by_hand).rows.size() == 1;
  if (options.one_of_several.empty()) return true;
  throw Error(ErrorCode::kInvalidArgument,
              options.one_of_several +
                  ": this process was started as one of several, but it would be a world of one: "
                  "where each process is started, put rotarun before the program, as in rotarun "
                  "PROGRAM; rotarun finds the other processes, or says what to declare; or set "
                  "ROTA_WORLD=1 if each process is to be alone");
}

Group join(const CommunicatorOptions& options) {
  const auto deadline = Clock::now() + std::min(options.join_timeout, base::kForever);
  if (options.by_hand) {
    if (!options.rendezvous_fd) return join_by_hand(options, deadline);
    throw Error(ErrorCode::kInvalidArgument,
                "CommunicatorOptions has both rendezvous_fd, for a rank that rotarun starts, and "
                "by_hand, for a rank without rotarun: set only one of them");
  }
  if (is_alone(options)) return world_of_one(own_table(), options);
  require_first_time();
  if (!os::is_message_socket(*options.rendezvous_fd)) {
    joined.clear();
    throw Error(ErrorCode::kInvalidArgument,
                "descriptor " + std::to_string(*options.rendezvous_fd) +
                    " is not connected to rotarun: a process that a rank starts is not a rank, and "
                    "needs ROTA_WORLD=1 if it is to be alone; if this process is to be the rank, a "
                    "program between rotarun and this one has closed the descriptor, as Python's "
                    "subprocess does: let it keep the descriptor "
                    "(pass_fds=[int(os.environ[\"ROTA_RENDEZVOUS_FD\"])]), or replace itself by "
                    "this program (os.execvp)");
  }
  os::Fd socket(*options.rendezvous_fd);
  os::close_on_exec(socket.get());
  return enter({.coordinator = nullptr,
                .client = rendezvous::Client(std::move(socket)),
                .listener = {},
                .key = std::nullopt},
               nullptr, options, deadline);
}

}  // namespace rota
