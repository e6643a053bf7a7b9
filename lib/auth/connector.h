// Repeats attempts to connect to a peer until both sides have proved who they are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "auth/handshake.h"
#include "auth/stream.h"
#include "base/time.h"
#include "names/resolver.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::auth {

class Connector {
 public:
  enum class State : std::uint8_t { kCalling, kDone, kRefused };

  // Why a peer that was reached has not let this side in.
  struct Answer {
    Verdict verdict = Verdict::kNone;
    std::string why;
  };

  // `address` is "host:port". A name is resolved at each attempt, and all its addresses are tried.
  Connector(std::string address, Credentials own, const Identity& identity,
            names::Options names = {});

  // Runs one iteration of an event loop. Never blocks. Throws Error kSystem, and kInvalidArgument
  // for a malformed address.
  void add_to(os::PollSet& polls) const;
  State advance(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // why() returns why the peer refused. If the peer did not refuse, it returns the last obstacle;
  // empty if there was none. verdict() is the verdict of the peer, and kNone if no peer gave a
  // verdict.
  const std::string& why() const noexcept { return why_; }
  Verdict verdict() const noexcept { return verdict_; }

  // last_answer() returns the last answer of a peer that has looked at the call; empty if there was
  // none. A peer whose port is crowded has not looked. A later obstacle, such as that the peer is
  // gone, explains less: explanation() returns the reason of the last answer, or else why().
  const std::optional<Answer>& last_answer() const noexcept { return last_answer_; }
  const std::string& explanation() const noexcept {
    return last_answer_ ? last_answer_->why : why_;
  }

  // The next three functions require state kDone. The stream can be taken only once.
  Stream take_stream() noexcept { return std::move(stream_); }
  SessionKeys session_keys() const { return handshake_->session_keys(); }
  std::uint64_t incarnation() const { return handshake_->identity().incarnation; }

 private:
  void start(base::TimePoint now);
  std::optional<std::string> connection_failure();
  void look_up(base::TimePoint now);
  State fail(const std::string& why, base::TimePoint now);
  State fail_as_told(base::TimePoint now);

  std::string address_;
  Credentials own_;
  Identity identity_;
  names::Resolver resolver_;
  std::vector<os::Address> untried_;  // Addresses left to try, the next one at the end.
  Stream stream_;
  bool has_met_peer_ = false;  // If there is a stream: another socket is at its other end.
  std::optional<Handshake> handshake_;
  base::TimePoint retry_at_{};    // Next attempt, if there is no stream.
  base::TimePoint give_up_at_{};  // End of this attempt, if there is a stream.
  std::size_t attempt_ = 0;
  std::size_t nameless_count_ = 0;  // Attempts in a row, up to the latest, that found no address.
  std::string why_;
  Verdict verdict_ = Verdict::kNone;
  std::optional<Answer> last_answer_;
};

}  // namespace rota::auth
