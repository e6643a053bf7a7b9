// The client of libpmix sends several small messages in a row, and its TCP sockets use Nagle's
// algorithm: each message waits until the kernel of the server acknowledges the one before. If the
// server does not answer, the kernel does so after 40 ms, which every MPI_Finalize would take
// longer. libpmix offers no setting for that.
#pragma once
#include <optional>

#include "base/time.h"

namespace rota::launcher {

class QuickAcks {
 public:
  // Called when ranks or rotarun have sent something: ranks may soon send more.
  void on_event(base::TimePoint now) noexcept;

  // Returns when to call ask() again; nothing if no event was lately.
  std::optional<base::TimePoint> next() const noexcept { return next_; }

  // If it is time, asks the kernel to acknowledge at once what comes next. The kernel forgets that
  // when libpmix answers, so this is done again and again, for a short time after an event.
  void ask(base::TimePoint now);

 private:
  base::TimePoint end_{};
  std::optional<base::TimePoint> next_;
};

}  // namespace rota::launcher
