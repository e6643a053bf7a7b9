// Waits at the door.
#include "rendezvous/call_host.h"

#include <algorithm>

#include <rota/error.h>

#include "auth/call.h"
#include "os/poll_set.h"
#include "rendezvous/remote_line.h"

namespace rota::rendezvous {

std::unique_ptr<Line> call_host(const std::string& address, const auth::Credentials& own,
                                const auth::Identity& identity, base::TimePoint deadline) {
  using base::Clock;
  using State = auth::Call::State;
  const base::TimePoint start = Clock::now();
  auth::Call call(address, own, identity);
  State state = State::kCalling;
  os::PollSet polls;
  while ((state = call.advance(Clock::now())) == State::kCalling && Clock::now() < deadline) {
    polls.clear();
    call.add_to(polls);
    polls.wait(std::min(deadline, call.next_deadline().value_or(deadline)));
  }
  if (state == State::kDone) {
    return std::make_unique<RemoteLine>(call.take_stream(), call.session_keys());
  }
  const std::string rank = "rank " + std::to_string(identity.from);
  if (state == State::kRefused || call.verdict() == auth::Verdict::kNotNow) {
    throw Error(ErrorCode::kMismatch, "rank 0 does not let " + rank + " in: " + call.why(), 0);
  }
  const std::string why = call.why().empty() ? "it does not answer" : call.why();
  throw Error(ErrorCode::kTimeout,
              rank + ": rank 0, where all meet, was not reached at " + address + " within " +
                  base::to_text(Clock::now() - start) + ": " + why,
              0);
}

}  // namespace rota::rendezvous
