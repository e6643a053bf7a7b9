// Receives and sends the reason for the end of a group: from and to the launcher, and peers that
// share memory. blame.h writes the messages; this class has the clock and knows the receivers.
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

// Only the thread that drives the communicator (impl.h), and so moves its data, may use the
// communicator's Messenger.
class Messenger {
 public:
  explicit Messenger(const Group& group);

  // Throws the Error that broke the group, if a peer has sent it.
  void throw_if_aborted();

  // Listens to the launcher at intervals. Returns true if there may be new messages since the last
  // look. Throws the Error that broke the job.
  bool hear(base::TimePoint now);

  // Returns how a peer ended, as text that follows the peer's name. Returns nothing if the peer has
  // not ended.
  std::optional<std::string> departure(std::size_t peer) const;

  // Returns whether there is a launcher. The launcher tracks which rank waits for which peer.
  bool has_coordinator() const noexcept {
    return group_.membership && group_.membership->has_coordinator();
  }
  void report_waiting(std::size_t peer, const collectives::Signature& own);
  void report_resumed() noexcept { group_.membership->report_resumed(); }

  // Tells the launcher and all peers why the group ends. Returns the Error that later calls throw,
  // with the known cause if there is one.
  Error fail(const Error& error, const Evidence& evidence) noexcept;

 private:
  // The source of the text with which the group ends.
  enum class Teller : std::uint8_t { kSelf, kPeers, kCoordinator };

  void hear();
  std::optional<Error> listen(std::optional<std::size_t> lost);
  Error cause_of_loss(const Error& error, const Evidence& evidence);
  Error cause_of_unknown_loss(const Error& error, const Evidence& evidence);
  Error tell_all(const Error& error, const Evidence& evidence);

  const Group& group_;
  base::TimePoint last_heard_{};  // The last time of hear().
  Teller teller_ = Teller::kSelf;
  transport::Cause speechless_;  // The cause for peers if there is no memory for a text.
};

}  // namespace rota
