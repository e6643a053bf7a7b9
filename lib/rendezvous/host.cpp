// A loop over the reception, and the lines of those who came in.
#include "rendezvous/host.h"

#include <algorithm>
#include <string>
#include <utility>

#include <rota/error.h>

#include "auth/call.h"
#include "os/message_socket.h"
#include "os/quiet_thread.h"
#include "rendezvous/remote_line.h"

namespace rota::rendezvous {

Host::Host(const Job& job, const auth::Credentials& own, os::Fd listener)
    : world_size_(job.table.rows.size()),
      epoch_(job.table.epoch),
      listener_(std::move(listener)),
      switchboard_(job, {}),
      reception_({.key = own.key,
                  .encrypts = own.encrypts,
                  .incarnation = job.incarnation,
                  .listener = listener_.get(),
                  .expected_count = world_size_},
                 [this](const auth::Identity& caller) { return judge(caller); }),
      is_there_(world_size_) {
  auto [ours, theirs] = os::make_message_socket_pair();
  switchboard_.connect(0, std::make_unique<LocalLine>(std::move(ours)));
  own_line_ = std::make_unique<LocalLine>(std::move(theirs));
  thread_ = os::start_quiet_thread([this] { serve(); });
}

Host::~Host() {
  is_ending_.store(true, std::memory_order_release);
  wakeup_.wake();
  thread_.join();
}

void Host::serve() noexcept {
  try {
    while (!is_ending_.load(std::memory_order_acquire)) turn();
    switchboard_.read_all(0, now_);
    switchboard_.send_all(now_);
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

// What ends it early is the job's first cause.
void Host::give_up(const std::string& why) noexcept {
  try {
    switchboard_.abort(ErrorCode::kSystem, "rank 0, where the ranks meet: " + why);
    switchboard_.send_all(now_);
  } catch (const std::exception&) {
    // The end of their lines says enough.
  }
  for (std::size_t rank = 0; rank < world_size_; ++rank) switchboard_.disconnect(rank);
  listener_.reset();
}

void Host::turn() {
  wait();
  for (auth::Reception::Guest& guest : reception_.receive(now_)) {
    const std::size_t rank = guest.identity.from;
    if (is_there_[rank]) continue;  // Two came at once.
    switchboard_.connect(rank, std::make_unique<RemoteLine>(std::move(guest.stream), guest.keys));
    is_there_[rank] = true;
  }
  switchboard_.note_stranger(reception_.last_complaint());
  switchboard_.handle(polls_, now_);
  notice_departures();
  switchboard_.on_time(now_);
  switchboard_.send_all(now_);
}

void Host::wait() {
  now_ = base::Clock::now();
  polls_.clear();
  const std::size_t wakeup_position = polls_.add(wakeup_.fd(), true, false);
  reception_.add_to(polls_, now_);
  switchboard_.add_to(polls_, now_);
  auto end = switchboard_.next_deadline(now_);
  if (const auto next = reception_.next_deadline()) end = end ? std::min(*end, *next) : *next;
  polls_.wait(end);
  if (polls_.readable(wakeup_position)) wakeup_.clear();
  now_ = base::Clock::now();
}

auth::Judgement Host::judge(const auth::Identity& caller) const {
  if (caller.channel != auth::Channel::kControl || caller.to != 0) {
    return auth::never("here ranks meet, and only that");
  }
  if (caller.from == 0) return auth::never("rank 0 is here");
  if (caller.from >= world_size_) {
    return auth::never("this job has " + std::to_string(world_size_) + " ranks");
  }
  if (caller.epoch != epoch_) {
    return auth::not_now("this is epoch " + std::to_string(epoch_) + " of the job");
  }
  if (is_there_[caller.from] || switchboard_.has_joined(caller.from)) {
    return auth::not_now("that rank has joined already");
  }
  return {};
}

// A rank that ends well says that it leaves before its line ends. One that never joined may call
// again.
void Host::notice_departures() {
  for (std::size_t rank = 1; rank < world_size_; ++rank) {
    if (!is_there_[rank] || switchboard_.is_connected(rank)) continue;
    is_there_[rank] = false;
    if (switchboard_.has_joined(rank)) switchboard_.on_departure(rank, "ended");
  }
}

std::unique_ptr<Line> call_host(const std::string& address, const auth::Credentials& own,
                                const auth::Identity& identity, base::TimePoint deadline) {
  using base::Clock;
  using State = auth::Call::State;
  const base::TimePoint start = Clock::now();
  auth::Call call(address, own, identity);
  State state = State::kCalling;
  os::PollSet polls;
  while ((state = call.advance(Clock::now())) == State::kCalling && Clock::now() < deadline) {
    polls.clear();
    call.add_to(polls);
    polls.wait(std::min(deadline, call.next_deadline().value_or(deadline)));
  }
  if (state == State::kDone) {
    return std::make_unique<RemoteLine>(call.take_stream(), call.session_keys());
  }
  const std::string rank = "rank " + std::to_string(identity.from);
  if (state == State::kRefused || call.verdict() == auth::Verdict::kNotNow) {
    throw Error(ErrorCode::kMismatch, "rank 0 does not let " + rank + " in: " + call.why(), 0);
  }
  const std::string why = call.why().empty() ? "it does not answer" : call.why();
  throw Error(ErrorCode::kTimeout,
              rank + ": rank 0, where all meet, was not reached at " + address + " within " +
                  base::to_text(Clock::now() - start) + ": " + why,
              0);
}

}  // namespace rota::rendezvous
