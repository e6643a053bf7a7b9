// Listens at ports that a process which is about to end may still hold.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>

#include "base/time.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/signals.h"

namespace rota::os {

// How long a rotarun whose outer process was killed may hold its ports: until its ranks have ended.
inline constexpr std::chrono::seconds kHeldTime{6};

// Calls `listen` again and again while it throws AddressInUse, and returns its result. After
// `patience`, throws the last AddressInUse. Other exceptions of `listen` are thrown immediately.
// Returns nothing if a signal waits that asks this process to end.
//
// The wait gives no heartbeats, but `listen` may. The outer process of rotarun allows 30 s before
// the first beat, but only 4 s between two beats.
template <class Listen>
std::optional<std::invoke_result_t<Listen&>> listen_patiently(Listen listen,
                                                              const SignalWatch& signals,
                                                              base::Duration patience = kHeldTime) {
  constexpr std::chrono::milliseconds kPause{50};
  const base::TimePoint end = base::Clock::now() + patience;
  while (!signals.has_request()) {
    const base::TimePoint now = base::Clock::now();
    try {
      return listen();
    } catch (const AddressInUse&) {
      if (now >= end) throw;
    }
    PollSet none;
    none.wait(std::min(end, now + kPause));
  }
  return std::nullopt;
}

}  // namespace rota::os
