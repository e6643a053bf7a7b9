// Listens, tells the launcher, and then the peers.
#include "communicator/messenger.h"

#include <chrono>
#include <exception>
#include <thread>

#include "communicator/watch.h"

namespace rota {
namespace {

constexpr std::chrono::milliseconds kHearEvery{1};

// A rank that gives up listens twice, and writes it down.
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

// Throws what broke the job, in this group's words.
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

// Messages concern two ranks only, which find out by themselves.
void Messenger::report_waiting(std::size_t peer, const collectives::Signature& own) {
  const bool is_between_two = own.collective() == collectives::Collective::kSend;
  group_.membership->report_waiting(
      group_.members[peer],
      is_between_two ? std::string() : group_.name + "#" + std::to_string(own.sequence()),
      to_text(own));
}

Error Messenger::fail(const Error& error, const Evidence& evidence) noexcept {
  // Peers that share memory stop at once, and hear the cause once it is known.
  if (group_.transport) group_.transport->begin_abort(group_.rank);
  try {
    return tell_all(error, evidence);
  } catch (const std::exception&) {
    // There is no memory for more words.
    if (group_.transport) group_.transport->abort(speechless_);
    return error;
  }
}

// The launcher first: peers that lose this rank then hear why.
Error Messenger::tell_all(const Error& error, const Evidence& evidence) {
  const bool is_loss = error.code() == ErrorCode::kPeerLost && error.blamed_rank();
  Error cause = is_loss ? cause_of_loss(error, evidence) : error;
  if (teller_ == Teller::kSelf) cause = in_own_words(cause, evidence);
  if (group_.membership) {
    group_.membership->abort(cause.code(), blamed_in_job(cause, group_.members), cause.what());
    // Whom one waits for may wait for another one; the coordinator knows how that goes on.
    if (teller_ == Teller::kSelf && cause.code() == ErrorCode::kTimeout) {
      if (const auto root = listen(std::nullopt)) cause = with_words_of(*root, cause.code());
    }
  }
  if (group_.transport) group_.transport->abort(cause_of(cause, group_.rank));
  return cause;
}

// A broken connection says that a peer is gone; the coordinator knows how it went, or that it was
// not the first to go.
Error Messenger::cause_of_loss(const Error& error, const Evidence& evidence) {
  const std::size_t peer = *error.blamed_rank();
  if (group_.membership) group_.membership->report_waiting(group_.members[peer], {}, {});
  if (const auto first = listen(peer)) return *first;
  return loss_of(error, departure(peer), evidence);
}

// Until it is known who was the first to fail, or how the peer went that was lost.
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
