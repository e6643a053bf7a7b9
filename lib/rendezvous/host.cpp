// A loop over the listener, those who shake hands, and the lines of those who have.
#include "rendezvous/host.h"

#include <algorithm>
#include <string>
#include <utility>

#include <rota/error.h>

#include "auth/exchange.h"
#include "os/message_socket.h"
#include "os/quiet_thread.h"
#include "os/tcp_socket.h"
#include "rendezvous/remote_line.h"

namespace rota::rendezvous {
namespace {

using State = auth::Handshake::State;

// With a caller that does not say who it is.
constexpr std::chrono::seconds kPatience{2};

// So many may linger at once; then the oldest has to go.
constexpr std::size_t kMostCallers = 64;

// Where nothing else says when to look again.
constexpr std::chrono::seconds kLookEvery{1};

}  // namespace

Host::Host(const Job& job, const auth::Key& key, os::Fd listener)
    : world_size_(job.table.rows.size()),
      epoch_(job.table.epoch),
      key_(key),
      listener_(std::move(listener)),
      switchboard_(job, {}),
      seats_(world_size_) {
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

// What ends it early, such as a want of descriptors, shows to all ranks as the end of their lines.
void Host::serve() noexcept {
  try {
    while (!is_ending_.load(std::memory_order_acquire)) turn();
    switchboard_.read_all(0, now_);
    switchboard_.send_all(now_);
  } catch (const std::exception&) {
    for (std::size_t rank = 0; rank < world_size_; ++rank) switchboard_.connect(rank, nullptr);
    listener_.reset();
  }
}

void Host::turn() {
  wait();
  accept_callers();
  for (Caller& caller : callers_) advance(caller);
  callers_.remove_if([](const Caller& caller) { return !caller.socket; });
  switchboard_.handle(polls_, now_);
  notice_departures();
  switchboard_.on_time(now_);
  switchboard_.send_all(now_);
}

void Host::wait() {
  polls_.clear();
  const std::size_t wakeup_position = polls_.add(wakeup_.fd(), true, false);
  polls_.add(listener_.get(), true, false);
  for (const Caller& caller : callers_) {
    const bool speaks = !caller.handshake.to_send().empty();
    polls_.add(caller.socket.get(), !speaks, speaks);
  }
  now_ = base::Clock::now();
  switchboard_.add_to(polls_, now_);
  base::TimePoint end = now_ + kLookEvery;
  if (const auto next = switchboard_.next_deadline(now_)) end = std::min(end, *next);
  polls_.wait(end);
  if (polls_.readable(wakeup_position)) wakeup_.clear();
  now_ = base::Clock::now();
}

void Host::accept_callers() {
  for (std::size_t i = 0; i < kMostCallers; ++i) {
    os::Fd socket = os::accept_connection(listener_.get());
    if (!socket) break;
    callers_.push_back({std::move(socket), auth::Handshake::answer(key_), now_});
  }
  while (callers_.size() > kMostCallers) callers_.pop_front();
}

void Host::advance(Caller& caller) {
  auth::Handshake& handshake = caller.handshake;
  const bool is_open = auth::advance(handshake, caller.socket.get());
  if (handshake.state() == State::kAsking) {
    judge(handshake);
    auth::advance(handshake, caller.socket.get());
  }
  if (handshake.state() == State::kDone) {
    const std::size_t rank = handshake.identity().from;
    switchboard_.connect(
        rank, std::make_unique<RemoteLine>(std::move(caller.socket), handshake.session_keys()));
    seats_[rank] = Seat::kTaken;
  } else if (!is_open || handshake.state() != State::kTalking || now_ - caller.since > kPatience) {
    caller.socket.reset();
  }
}

void Host::judge(auth::Handshake& handshake) const {
  const auth::Identity& caller = handshake.identity();
  const std::string world = "this job has " + std::to_string(world_size_) + " ranks";
  if (caller.channel != auth::Channel::kControl || caller.to != 0) {
    return handshake.refuse("here ranks meet, and only that");
  }
  if (caller.from == 0) return handshake.refuse("rank 0 is here");
  if (caller.from >= world_size_) return handshake.refuse(world);
  if (caller.epoch != epoch_) {
    return handshake.refuse("this is epoch " + std::to_string(epoch_) + " of the job");
  }
  if (seats_[caller.from] != Seat::kFree) return handshake.refuse("that rank has joined already");
  handshake.accept();
}

// A rank that ends well says that it leaves before its line ends.
void Host::notice_departures() {
  for (std::size_t rank = 1; rank < world_size_; ++rank) {
    if (seats_[rank] != Seat::kTaken || switchboard_.is_connected(rank)) continue;
    switchboard_.on_departure(rank, "ended");
    seats_[rank] = Seat::kLeft;
  }
}

}  // namespace rota::rendezvous
