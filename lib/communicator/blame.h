// Who is to blame where a group ends, and in which words a rank says so. Pure: it is told the time
// and what is known, and asks for nothing.
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

// What a rank knows when its group ends.
struct Evidence {
  std::size_t rank = 0;  // Its own.
  const RankTable& table;
  base::Duration deadline{0};
  std::optional<collectives::Signature> oldest{};   // The oldest of its operations, and
  std::optional<collectives::Wait> wait{};          // whom that one waits for.
  std::optional<collectives::Signature> held_up{};  // What waits for it: both use the same memory.
  std::string_view trouble{};  // Why its own host keeps it from moving, as a clause, or empty.
};

// "rank 3 (host)"
std::string name_of(std::size_t rank, const RankTable& table);

// A rank that gives up is waited for in no step, but until it has told why.
constexpr bool is_for_words(const collectives::Wait& wait) noexcept { return wait.step_count == 0; }

// Whom an operation waits for, and how far it has come. `peer`: the name of wait.peer.
std::string to_text(const collectives::Wait& wait, const std::string& peer);

// Of a wait whose deadline has passed. Where this rank's own host keeps it from moving, no peer is
// to blame.
Error timeout_of(const collectives::Wait& wait, const Evidence& evidence);

// Of a peer that has ended, as others say.
Error end_of(std::size_t peer);

// Of a peer that was lost, as `error` says, and is blamed in it. `how`: how it went, in words that
// follow its name, where that is known.
Error loss_of(const Error& error, const std::optional<std::string>& how, const Evidence& evidence);

// What this rank has found by itself: it says which rank it is, and what it was doing.
Error in_own_words(const Error& error, const Evidence& evidence);

// What others have said, in their words.
Error told_by_peers(const transport::Cause& cause);
Error told_by_launcher(const Error& cause, std::span<const std::size_t> members);

// What is to be told, and whom.
Error with_words_of(const Error& reason, ErrorCode code);
transport::Cause cause_of(const Error& error, std::size_t rank);
std::optional<std::size_t> blamed_in_job(const Error& error, std::span<const std::size_t> members);

// A rank that gives up may not be the first to do so, and the launcher knows who was, or how a peer
// went: so it listens, but not for long.
class Listening {
 public:
  static constexpr std::chrono::milliseconds kMost{50};

  explicit Listening(base::TimePoint now) noexcept : until_(now + kMost) {}

  // Whether it is worth another look. `knows_how`: the lost peer went.
  bool goes_on(base::TimePoint now, bool knows_how) const noexcept {
    return !is_over_ && !knows_how && now < until_;
  }

  // What the launcher has said. That it is gone itself is no reason.
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
