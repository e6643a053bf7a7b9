// Receives causes from the launcher, and sends this rank's cause to the launcher and then to the
// peers.
#include "communicator/messenger.h"

#include <chrono>
#include <exception>
#include <thread>

#include "communicator/watch.h"

namespace rota {
namespace {

constexpr std::chrono::milliseconds kHearEvery{1};

// A rank that gives up listens up to twice before it writes its cause. The peers must wait longer.
static_assert(Watch::kTellsWithin >= 4 * Listening::kMost);

}  // namespace

Messenger::Messenger(const Group& group)
    : group_(group),
      speechless_{
          .rank = group.rank,
          .code = ErrorCode::kNoMemory,
          .blamed = std::nullopt,
          .text = name_of(group.rank, group.table) + " failed, and had no memory to say why"} {}

void Messenger::throw_if_aborted() {
  const auto cause = group_.transport->aborted();
  if (!cause || cause->rank == group_.rank) return;
  teller_ = Teller::kPeers;
  throw told_by_peers(*cause);
}

bool Messenger::hear(base::TimePoint now) {
  if (!group_.membership) return true;
  if (now - last_heard_ <= kHearEvery) return false;
  last_heard_ = now;
  hear();
  return true;
}

// Throws the job's cause. The blamed rank is numbered as in this group.
void Messenger::hear() {
  const auto cause = group_.membership->hear();
  if (!cause) return;
  teller_ = Teller::kCoordinator;
  throw told_by_launcher(*cause, group_.members);
}

std::optional<std::string> Messenger::departure(std::size_t peer) const {
  if (group_.membership) {
    if (auto how = group_.membership->departure(group_.members[peer])) return how;
  }
  if (group_.transport && group_.transport->has_left(peer)) return "left";
  return std::nullopt;
}

// The key of a send is empty: a send concerns two ranks only, which detect a mismatch themselves.
void Messenger::report_waiting(std::size_t peer, const collectives::Signature& own) {
  const bool is_between_two = own.collective() == collectives::Collective::kSend;
  group_.membership->report_waiting(
      group_.members[peer],
      is_between_two ? std::string() : group_.name + "#" + std::to_string(own.sequence()),
      to_text(own));
}

Error Messenger::fail(const Error& error, const Evidence& evidence) noexcept {
  // Peers that share memory stop immediately, and get the cause once it is known.
  if (group_.transport) group_.transport->begin_abort(group_.rank);
  try {
    return tell_all(error, evidence);
  } catch (const std::exception&) {
    // There is no memory for another message.
    if (group_.transport) group_.transport->abort(speechless_);
    return error;
  }
}

// Tells the launcher first: peers that lose this rank then learn the cause from the launcher.
Error Messenger::tell_all(const Error& error, const Evidence& evidence) {
  Error cause = error;
  if (error.code() == ErrorCode::kPeerLost) {
    cause = error.blamed_rank() ? cause_of_loss(error, evidence)
                                : cause_of_unknown_loss(error, evidence);
  }
  if (teller_ == Teller::kSelf) cause = in_own_words(cause, evidence);
  if (group_.membership) {
    group_.membership->abort(cause.code(), blamed_in_job(cause, group_.members), cause.what());
    // The awaited peer may itself wait for another rank. The coordinator knows the end of this
    // chain.
    if (teller_ == Teller::kSelf && cause.code() == ErrorCode::kTimeout) {
      if (const auto root = listen(std::nullopt)) cause = with_words_of(*root, cause.code());
    }
  }
  if (group_.transport) group_.transport->abort(cause_of(cause, group_.rank));
  return cause;
}

// A broken connection only shows that a peer is gone. The coordinator knows how the peer ended, or
// which rank failed first.
Error Messenger::cause_of_loss(const Error& error, const Evidence& evidence) {
  const std::size_t peer = *error.blamed_rank();
  if (group_.membership) group_.membership->report_waiting(group_.members[peer], {}, {});
  if (const auto first = listen(peer)) return *first;
  return loss_of(error, departure(peer), evidence);
}

// A library that moves the values itself may know only that some rank is gone.
Error Messenger::cause_of_unknown_loss(const Error& error, const Evidence& evidence) {
  if (const auto first = listen(std::nullopt)) return *first;
  for (std::size_t peer = 0; peer < group_.world_size(); ++peer) {
    const auto how = peer == group_.rank ? std::nullopt : departure(peer);
    if (how && *how != Membership::kLeft) {
      return loss_of(Error(error.code(), error.what(), peer), how, evidence);
    }
  }
  return error;
}

// Listens until it is known which rank failed first, or how the lost peer ended.
std::optional<Error> Messenger::listen(std::optional<std::size_t> lost) {
  if (!has_coordinator()) return std::nullopt;
  Listening listening(base::Clock::now());
  const auto goes_on = [&] {
    return listening.goes_on(base::Clock::now(), lost && departure(*lost).has_value());
  };
  while (goes_on()) {
    try {
      hear();
    } catch (const Error& heard) {
      listening.on_heard(heard);
    }
    if (goes_on()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return listening.reason();
}

}  // namespace rota
