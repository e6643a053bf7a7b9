// Asks the launcher for the job, makes its transport and meets the other ranks.
#include "communicator/join.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>

#include <rota/error.h>

#include "base/byte_stream.h"
#include "base/islands.h"
#include "base/transports.h"
#include "communicator/by_hand.h"
#include "communicator/tuned_file.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "transport/fabric.h"

namespace rota {
namespace {

using base::Clock;

// Of the time to join, for what comes after the connections; a tenth at most.
constexpr std::chrono::seconds kLastPart{1};

// The launcher left one descriptor, and one communicator can have it.
std::atomic_flag joined;

Group world_of_one(RankTable table, const CommunicatorOptions& options) {
  Group group;
  group.deadline =
      std::min<base::Duration>(options.deadline.value_or(kUsualDeadline), base::kForever);
  group.table = std::move(table);
  group.members = {0};
  group.islands = {0};
  return group;
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

// While ranks join, nobody may end: whoever does is missed.
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

transport::Lent take_lent(rendezvous::Client::Welcome& welcome, Arrival& arrival) {
  transport::Lent lent{.listener = std::move(arrival.listener), .arenas = std::move(welcome.fds)};
  const rendezvous::Job& job = welcome.job;
  if (job.lends && base::listens(job.table.transport)) {
    lent.listener = std::move(lent.arenas.front());
    lent.arenas.erase(lent.arenas.begin());
  }
  return lent;
}

std::unique_ptr<transport::Transport> make_transport(rendezvous::Client::Welcome& welcome,
                                                     const base::Islands& islands, Arrival& arrival,
                                                     base::TimePoint deadline) {
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
  return transport::join(job.table.transport, {.islands = islands, .own = {job.rank}},
                         take_lent(welcome, arrival), terms, deadline);
}

// What rank 0 tells the others: what it was given, and the tuned file that it has read for all.
struct FirstWord {
  std::string plan;          // And the codec.
  std::string tuned_file{};  // Its path; empty where there is none.
  std::string tuned_text{};
};

std::string encode(const FirstWord& word) {
  base::ByteWriter out;
  out.reserve(3 * sizeof(std::uint32_t) + word.plan.size() + word.tuned_file.size() +
              word.tuned_text.size());
  out.write(word.plan);
  out.write(word.tuned_file);
  out.write(word.tuned_text);
  const auto bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

FirstWord decode(const std::string& text) {
  base::ByteReader in(std::as_bytes(std::span(text)));
  FirstWord word{.plan = in.read_text()};
  word.tuned_file = in.read_text();
  word.tuned_text = in.read_text();
  return word;
}

std::string plan_of(const CommunicatorOptions& options) {
  return "plan " + options.plan + ", codec " + std::string(to_string(options.codec));
}

// The launcher decides for all of its ranks, where it was told.
std::string tuned_file_for(const Group& group, const CommunicatorOptions& options) {
  return group.table.tuned.empty() ? options.tuned_file : group.table.tuned;
}

FirstWord own_word(const Group& group, const CommunicatorOptions& options) {
  FirstWord word{.plan = plan_of(options), .tuned_file = tuned_file_for(group, options)};
  if (!word.tuned_file.empty()) word.tuned_text = read_tuned_file(word.tuned_file);
  return word;
}

// Ranks that were told different things would fail later, and less clearly. Where rank 0 was told
// of a tuned file, nobody else needs to be: what it has read there is what all of them take.
void agree_on_options(Group& group, rendezvous::Client& client, const CommunicatorOptions& options,
                      base::TimePoint deadline) {
  if (group.rank == 0) client.put("options", encode(own_word(group, options)));
  client.barrier("arrived", time_left(deadline));
  const FirstWord first = decode(client.get("options", time_left(deadline)));
  const auto compare = [&](const std::string& own, const std::string& of_rank_0) {
    if (own == of_rank_0) return;
    throw Error(ErrorCode::kMismatch, "rank " + std::to_string(group.rank) + " was given " + own +
                                          ", rank 0 was given " + of_rank_0);
  };
  compare(plan_of(options), first.plan);
  const std::string own = tuned_file_for(group, options);
  const std::string tuned_file = first.tuned_file.empty() ? "none" : first.tuned_file;
  if (!own.empty()) compare("the tuned file " + own, "the tuned file " + tuned_file);
  if (!first.tuned_file.empty()) give_tuned(group, first.tuned_file, first.tuned_text);
}

// A launcher decides for all of its ranks; one that wants more than it gives does not begin.
void require_encryption(const rendezvous::Job& job, const CommunicatorOptions& options) {
  if (!options.encrypt || job.encrypts || !base::listens(job.table.transport)) return;
  throw Error(ErrorCode::kMismatch,
              "rank " + std::to_string(job.rank) +
                  " is to encrypt what goes over TCP, and rotarun was not told so: --encrypt");
}

// As the launcher says, or else as the transport's name does. Who is alone has none.
base::Islands islands_of(const rendezvous::Job& job) {
  if (!job.islands.empty()) return job.islands;
  const std::size_t world_size = job.table.rows.size();
  return world_size == 1 ? base::each_alone(1)
                         : base::islands_over(job.table.transport, world_size);
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
  group.may_spin =
      welcome.job.may_spin || (!welcome.job.lends && may_spin(group.table, group.rank));
  group.verbose = welcome.job.verbose;
  try {
    require_encryption(welcome.job, options);
    agree_on_options(group, arrival.client, options, deadline);
    if (table) compare_tables(group.rank, *table, group.table);
    group.islands = islands_of(welcome.job);
    if (group.world_size() > 1) {
      // Who could not be reached is said by those who tried, before the others give up waiting.
      const base::Duration last_part =
          std::min<base::Duration>(time_left(deadline) / 10, kLastPart);
      group.transport = make_transport(welcome, group.islands, arrival, deadline - last_part);
      arrival.client.barrier("joined", time_left(deadline));
    }
  } catch (const Error& error) {
    // Says so before the process ends, so that the right rank is blamed.
    arrival.client.abort(error.code(), error.blamed_rank(), error.what());
    throw;
  }
  group.members.resize(group.world_size());
  std::iota(group.members.begin(), group.members.end(), std::size_t{0});
  group.membership = std::make_shared<Membership>(group.rank, group.world_size());
  group.membership->connect(std::move(arrival.client), std::move(arrival.host));
  return group;
}

Group join_by_hand(const CommunicatorOptions& options, base::TimePoint deadline) {
  const RankTable table = complete_table(*options.by_hand);
  if (table.rows.size() == 1) return world_of_one(table, options);
  return enter(arrive_by_hand(options, table, deadline), &table, options, deadline);
}

}  // namespace

bool is_alone(const CommunicatorOptions& options) {
  if (options.rendezvous_fd) return false;
  if (options.by_hand) return complete_table(*options.by_hand).rows.size() == 1;
  if (options.one_of_several.empty()) return true;
  throw Error(ErrorCode::kInvalidArgument,
              options.one_of_several +
                  ": somebody has started this process as one of several, and it would be alone: "
                  "put rotarun before the program, as in mpirun … rotarun PROGRAM; or set "
                  "ROTA_WORLD=1 where each is to be alone");
}

Group join(const CommunicatorOptions& options) {
  const auto deadline = Clock::now() + std::min(options.join_timeout, base::kForever);
  if (options.by_hand) {
    if (!options.rendezvous_fd) return join_by_hand(options, deadline);
    throw Error(ErrorCode::kInvalidArgument,
                "a rank is started by rotarun or by hand: there is a table, and a descriptor too");
  }
  if (is_alone(options)) return world_of_one(own_table(), options);
  if (joined.test_and_set()) {
    throw Error(ErrorCode::kInvalidArgument,
                "a process can join its job once; more communicators come from split()");
  }
  if (!os::is_message_socket(*options.rendezvous_fd)) {
    joined.clear();
    throw Error(ErrorCode::kInvalidArgument,
                "descriptor " + std::to_string(*options.rendezvous_fd) +
                    " does not lead to rotarun: start this program by it; what a rank starts by "
                    "itself is no rank, and takes ROTA_WORLD=1 where it is to be alone");
  }
  os::Fd socket(*options.rendezvous_fd);
  os::close_on_exec(socket.get());
  return enter({.host = nullptr,
                .client = rendezvous::Client(std::move(socket)),
                .listener = {},
                .key = std::nullopt},
               nullptr, options, deadline);
}

}  // namespace rota
