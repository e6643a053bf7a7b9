// Listens at ports that a process which is about to end may still hold.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <type_traits>

#include "base/time.h"
#include "os/listener.h"
#include "os/poll_set.h"
#include "os/signals.h"

namespace rota::os {

// How long a rotarun whose outer process was killed may hold its ports: until its ranks have ended.
inline constexpr std::chrono::seconds kHeldTime{6};

// Returns the error with the time for which the address was tried.
inline AddressInUse with_time(const AddressInUse& error, base::Duration patience) {
  return AddressInUse(std::string(error.what()) + " (tried for " + base::to_text(patience) + ")");
}

// Calls `listen` again and again while it throws AddressInUse, and returns its result. After
// `patience`, throws the last AddressInUse, which then also says for how long. Other exceptions of
// `listen` are thrown immediately. Returns nothing once `must_end` returns true.
//
// The wait gives no heartbeats, but `listen` may. The outer process of rotarun allows 30 s before
// the first beat, but only 4 s between two beats.
template <class Listen, class MustEnd>
std::optional<std::invoke_result_t<Listen&>> listen_until(Listen listen, base::Duration patience,
                                                          MustEnd must_end) {
  constexpr std::chrono::milliseconds kPause{50};
  const base::TimePoint end = base::Clock::now() + patience;
  while (!must_end()) {
    const base::TimePoint now = base::Clock::now();
    try {
      return listen();
    } catch (const AddressInUse& error) {
      if (now >= end) throw with_time(error, patience);
    }
    PollSet none;
    none.wait(std::min(end, now + kPause));
  }
  return std::nullopt;
}

// Returns nothing if a signal waits that asks this process to end. In all other respects, works
// like listen_until().
template <class Listen>
std::optional<std::invoke_result_t<Listen&>> listen_patiently(Listen listen,
                                                              const SignalWatch& signals,
                                                              base::Duration patience = kHeldTime) {
  return listen_until(listen, patience, [&] { return signals.has_request(); });
}

// Does the same in a process that watches no signals.
template <class Listen>
std::invoke_result_t<Listen&> listen_patiently(Listen listen, base::Duration patience) {
  return *listen_until(listen, patience, [] { return false; });
}

}  // namespace rota::os
