// What a rank hears of the end of its group, and how it tells of it: peers that share memory, and
// the launcher. What is said is blame.h's; this has the clock, and those who listen.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <rota/error.h>

#include "base/time.h"
#include "communicator/blame.h"
#include "communicator/group.h"
#include "transport/transport.h"

namespace rota {

// By whoever drives.
class Messenger {
 public:
  explicit Messenger(const Group& group);

  // Throws what broke the group, once a peer has said it.
  void throw_if_aborted();

  // Listens to the launcher now and then. True where there may be news since the last look. Throws
  // what broke the job.
  bool hear(base::TimePoint now);

  // How a peer ended, in words that follow its name; empty while it has not.
  std::optional<std::string> departure(std::size_t peer) const;

  // The launcher follows who waits for whom.
  bool has_coordinator() const noexcept {
    return group_.membership && group_.membership->has_coordinator();
  }
  void report_waiting(std::size_t peer, const collectives::Signature& own);
  void report_resumed() noexcept { group_.membership->report_resumed(); }

  // Tells the launcher and all peers why the group ends. Returns the error as later calls will
  // throw it, which prefers what is known of the cause.
  Error fail(const Error& error, const Evidence& evidence) noexcept;

 private:
  // In whose words the group ends.
  enum class Teller : std::uint8_t { kSelf, kPeers, kCoordinator };

  void hear();
  std::optional<Error> listen(std::optional<std::size_t> lost);
  Error cause_of_loss(const Error& error, const Evidence& evidence);
  Error tell_all(const Error& error, const Evidence& evidence);

  const Group& group_;
  base::TimePoint last_heard_{};  // When the launcher was listened to.
  Teller teller_ = Teller::kSelf;
  transport::Cause speechless_;  // What peers are told where no memory is left for words.
};

}  // namespace rota
