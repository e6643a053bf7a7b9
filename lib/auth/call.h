// Calls a peer, again and again, until both have proved to each other who they are.
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

class Call {
 public:
  enum class State : std::uint8_t { kCalling, kDone, kRefused };

  // `address`: "host:port"; a name is asked for at each attempt, and all that it stands for tried.
  Call(std::string address, Credentials own, const Identity& identity, names::Options names = {});

  // One turn of a loop. Never blocks. Throws Error kSystem, kInvalidArgument for an address that is
  // none.
  void add_to(os::PollSet& polls) const;
  State advance(base::TimePoint now);
  std::optional<base::TimePoint> next_deadline() const;

  // Why it was refused, or else what was in the way last; empty where nothing was. verdict() is
  // what was said about that, kNone where nobody answered.
  const std::string& why() const noexcept { return why_; }
  Verdict verdict() const noexcept { return verdict_; }

  // In state kDone. The stream may be taken once.
  Stream take_stream() noexcept { return std::move(stream_); }
  SessionKeys session_keys() const { return handshake_->session_keys(); }
  std::uint64_t incarnation() const { return handshake_->identity().incarnation; }

 private:
  void start(base::TimePoint now);
  void look_up(base::TimePoint now);
  State fail(const std::string& why, base::TimePoint now);
  State fail_as_told(base::TimePoint now);

  std::string address_;
  Credentials own_;
  Identity identity_;
  names::Resolver resolver_;
  std::vector<os::Address> untried_;  // Of what the name stood for, the next one last.
  Stream stream_;
  std::optional<Handshake> handshake_;
  base::TimePoint retry_at_{};    // Without a stream.
  base::TimePoint give_up_at_{};  // With one.
  std::size_t attempt_ = 0;
  std::size_t nameless_count_ = 0;  // Of the last attempts, those that had no address.
  std::string why_;
  Verdict verdict_ = Verdict::kNone;
};

}  // namespace rota::auth
