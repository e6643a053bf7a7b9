// Decides which rank to blame when a group ends, and writes the message. All functions are pure:
// callers pass the time and all known facts.
#pragma once
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <rota/error.h>
#include <rota/rank_table.h>

#include "base/time.h"
#include "collectives/description.h"
#include "collectives/operation.h"
#include "transport/transport.h"

namespace rota {

// The knowledge of a rank when its group ends.
struct Evidence {
  std::size_t rank = 0;  // This rank.
  const RankTable& table;
  base::Duration deadline{0};
  std::optional<collectives::Signature> oldest{};  // The rank's oldest operation.
  MemoryKind memory{};                             // Where its values lie.
  std::optional<collectives::Wait> wait{};         // The wait of this operation.
  // An operation that waits for the oldest one, because both use the same memory.
  std::optional<collectives::Signature> held_up{};
  std::string_view trouble{};  // How this rank's host delays the rank, as a clause; or empty.
};

// Returns a text such as "rank 3 (host)".
std::string name_of(std::size_t rank, const RankTable& table);

// Returns whether the awaited rank has given up and must still tell why. Otherwise the wait is for
// a step.
constexpr bool is_for_words(const collectives::Wait& wait) noexcept { return wait.step_count == 0; }

// Returns a text that tells which peer an operation waits for, and how far the operation is.
// `peer`: the name of wait.peer.
std::string to_text(const collectives::Wait& wait, const std::string& peer);

// Returns the Error of a wait whose deadline has passed. If the wait may be for any rank, the text
// says so. If this rank's own host delays the rank, the Error blames no peer.
Error timeout_of(const collectives::Wait& wait, const Evidence& evidence);

// Returns the Error for a peer whose end another process has reported.
Error end_of(std::size_t peer);

// Returns the Error for a lost peer. `error` blames this peer. `how`: how the peer ended, if known,
// as text that follows the peer's name.
Error loss_of(const Error& error, const std::optional<std::string>& how, const Evidence& evidence);

// Returns the Error for a cause that this rank has found itself. The text names the rank and its
// operation.
Error in_own_words(const Error& error, const Evidence& evidence);

// These two functions return the Error for a cause that peers or the launcher have sent, with the
// text that they have sent.
Error told_by_peers(const transport::Cause& cause);
Error told_by_launcher(const Error& cause, std::span<const std::size_t> members);

// Returns the Error with a further clause: the library `keeper` may still use the buffers of the
// calls that failed.
Error with_kept_buffers(const Error& error, std::string_view keeper);

// These functions make parts of the cause that a rank sends. with_words_of() returns an Error with
// the text of `reason` and another code. cause_of() returns the cause for peers. blamed_in_job()
// returns the blamed rank's number in the job.
Error with_words_of(const Error& reason, ErrorCode code);
transport::Cause cause_of(const Error& error, std::size_t rank);
std::optional<std::size_t> blamed_in_job(const Error& error, std::span<const std::size_t> members);

// The time in which a rank that gives up listens to the launcher. Another rank may have failed
// first, and the launcher knows which one, or how a peer ended. So the rank listens, but not for
// long.
class Listening {
 public:
  static constexpr std::chrono::milliseconds kMost{50};

  explicit Listening(base::TimePoint now) noexcept : until_(now + kMost) {}

  // Returns whether another look is worthwhile. `knows_how`: it is known how the lost peer ended.
  bool goes_on(base::TimePoint now, bool knows_how) const noexcept {
    return !is_over_ && !knows_how && now < until_;
  }

  // Records an Error that came from the launcher. The end of the launcher itself (kSystem) is not a
  // reason.
  void on_heard(const Error& error) {
    is_over_ = true;
    if (error.code() != ErrorCode::kSystem) reason_ = error;
  }

  const std::optional<Error>& reason() const noexcept { return reason_; }

 private:
  base::TimePoint until_;
  bool is_over_ = false;
  std::optional<Error> reason_;
};

}  // namespace rota
