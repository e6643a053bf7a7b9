// Runs an event loop over the acceptor and the connections of the ranks that have connected.
#include "rendezvous/coordinator_thread.h"

#include <algorithm>
#include <string>
#include <utility>

#include <rota/error.h>

#include "auth/connector.h"
#include "os/message_socket.h"
#include "os/quiet_thread.h"
#include "rendezvous/remote_connection.h"

namespace rota::rendezvous {
namespace {

// How long the last messages wait for ranks that do not read.
constexpr std::chrono::seconds kLongestEnd{1};

}  // namespace

CoordinatorThread::CoordinatorThread(const Job& job, const auth::Credentials& own, os::Fd listener)
    : world_size_(job.table.rows.size()),
      epoch_(job.table.epoch),
      listener_(std::move(listener)),
      router_(job, {}),
      acceptor_({.key = own.key,
                 .encrypts = own.encrypts,
                 .incarnation = job.incarnation,
                 .listener = listener_.get(),
                 .expected_count = world_size_},
                [this](const auth::Identity& caller) { return judge(caller); }),
      is_there_(world_size_) {
  auto [ours, theirs] = os::make_message_socket_pair();
  router_.connect(0, std::make_unique<LocalConnection>(std::move(ours)));
  own_connection_ = std::make_unique<LocalConnection>(std::move(theirs));
  thread_ = os::start_quiet_thread([this] { serve(); });
}

CoordinatorThread::~CoordinatorThread() {
  is_ending_.store(true, std::memory_order_release);
  wakeup_.wake();
  thread_.join();
}

void CoordinatorThread::serve() noexcept {
  try {
    while (!is_ending_.load(std::memory_order_acquire)) turn();
    router_.read_all(0, now_);
    send_rest();
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

// Ends the job. An error that ends the thread early is the first cause of the job's failure.
void CoordinatorThread::give_up(const std::string& why) noexcept {
  try {
    router_.abort(ErrorCode::kSystem, "rank 0, which hosts the rendezvous: " + why);
    send_rest();
  } catch (const std::exception&) {
    // The ranks see that their connections end.
  }
  for (std::size_t rank = 0; rank < world_size_; ++rank) router_.disconnect(rank);
  listener_.reset();
}

// Sends what is still to be sent. Otherwise ranks whose connections are full would never read why
// the job has failed, and blame rank 0 for its end.
void CoordinatorThread::send_rest() {
  router_.send_all(now_);
  const base::TimePoint latest = base::Clock::now() + kLongestEnd;
  while (router_.is_sending() && base::Clock::now() < latest) turn(latest);
}

// Waits until `latest` at most.
void CoordinatorThread::turn(std::optional<base::TimePoint> latest) {
  wait(latest);
  if (!has_begun_ && have_all_joined()) {
    has_begun_ = true;
    acceptor_.let_others_wait();
  }
  for (auth::Acceptor::Member& member : acceptor_.receive(now_)) {
    const std::size_t rank = member.identity.from;
    if (is_there_[rank]) continue;  // The rank has connected twice.
    router_.connect(rank,
                    std::make_unique<RemoteConnection>(std::move(member.stream), member.keys));
    is_there_[rank] = true;
  }
  router_.note_stranger(acceptor_.last_complaint());
  router_.handle(polls_, now_);
  notice_departures();
  router_.on_time(now_);
  router_.send_all(now_);
}

void CoordinatorThread::wait(std::optional<base::TimePoint> latest) {
  now_ = base::Clock::now();
  polls_.clear();
  const std::size_t wakeup_position = polls_.add(wakeup_.fd(), true, false);
  acceptor_.add_to(polls_, now_);
  router_.add_to(polls_, now_);
  const auto next = base::earlier(router_.next_deadline(now_), acceptor_.next_deadline());
  polls_.wait(base::earlier(next, latest));
  if (polls_.readable(wakeup_position)) wakeup_.clear();
  now_ = base::Clock::now();
}

auth::Admission CoordinatorThread::judge(const auth::Identity& caller) const {
  if (caller.kind != auth::ConnectionKind::kControl || caller.to != 0) {
    return auth::never("this is the rendezvous of the ranks, and accepts nothing else");
  }
  if (caller.from == 0) return auth::never("this is rank 0 itself: start each rank only once");
  if (caller.from >= world_size_) {
    const std::string why = "this job has " + std::to_string(world_size_) + " ranks";
    // The caller may belong to a job that replaces this one.
    return has_begun_ ? auth::not_now(why + "; this job has begun") : auth::never(why);
  }
  if (caller.epoch != epoch_) {
    return auth::not_now("this is epoch " + std::to_string(epoch_) +
                         " of the job, and the caller is of another epoch");
  }
  if (is_there_[caller.from] || router_.has_joined(caller.from)) {
    return auth::not_now("that rank has joined already");
  }
  return {};
}

bool CoordinatorThread::have_all_joined() const {
  for (std::size_t rank = 0; rank < world_size_; ++rank) {
    if (!router_.has_joined(rank)) return false;
  }
  return true;
}

// A rank that is done with the job sends kLeave before its connection ends. A rank that never
// joined may connect again.
void CoordinatorThread::notice_departures() {
  for (std::size_t rank = 1; rank < world_size_; ++rank) {
    if (!is_there_[rank] || router_.is_connected(rank)) continue;
    is_there_[rank] = false;
    if (router_.has_joined(rank)) router_.on_departure(rank, "ended");
  }
}

namespace {

using base::Clock;
using State = auth::Connector::State;

// The turn of one address ends after this time, or when an attempt there has failed. If there is
// only one address, its turn does not end.
constexpr std::chrono::seconds kTurn{2};
constexpr std::chrono::milliseconds kPauseAfterAll{50};

// Runs the call until it is accepted or refused, or until its turn ends.
State run_turn(auth::Connector& call, bool is_only, base::TimePoint deadline) {
  const base::TimePoint end = is_only ? deadline : std::min(deadline, Clock::now() + kTurn);
  State state = State::kCalling;
  os::PollSet polls;
  while ((state = call.advance(Clock::now())) == State::kCalling && Clock::now() < end) {
    if (!is_only && !call.why().empty()) break;
    polls.clear();
    call.add_to(polls);
    polls.wait(std::min(end, call.next_deadline().value_or(end)));
  }
  return state;
}

}  // namespace

std::unique_ptr<Connection> call_coordinator(const std::vector<std::string>& addresses,
                                             const auth::Credentials& own,
                                             const auth::Identity& identity,
                                             base::TimePoint deadline) {
  const base::TimePoint start = Clock::now();
  const std::string rank = "rank " + std::to_string(identity.from);
  std::optional<auth::Connector::Answer> answer;  // The last answer of rank 0, if any.
  std::string where;
  std::string why;
  os::PollSet none;
  for (std::size_t turn = 0; turn == 0 || Clock::now() < deadline; ++turn) {
    const std::string& address = addresses[turn % addresses.size()];
    auth::Connector call(address, own, identity);
    const State state = run_turn(call, addresses.size() == 1, deadline);
    if (state == State::kDone) {
      return std::make_unique<RemoteConnection>(call.take_stream(), call.session_keys());
    }
    if (call.last_answer() || !answer) {
      answer = call.last_answer();
      where = address;
      why = call.explanation().empty() ? "it does not answer" : call.explanation();
    }
    const bool is_over = Clock::now() >= deadline;
    const bool was_not_now = answer && answer->verdict == auth::Verdict::kNotNow;
    if (state == State::kRefused || (is_over && was_not_now)) {
      throw Error(ErrorCode::kMismatch, "rank 0 does not let " + rank + " in: " + why, 0);
    }
    const bool were_all = (turn + 1) % addresses.size() == 0;
    if (were_all && !is_over) none.wait(std::min(deadline, Clock::now() + kPauseAfterAll));
  }
  throw Error(ErrorCode::kTimeout,
              rank + " did not reach rank 0, which hosts the rendezvous, at " + where +
                  (addresses.size() == 1 ? "" : " or its other addresses") + " within " +
                  base::to_text(Clock::now() - start) + ": " + why,
              0);
}

}  // namespace rota::rendezvous
