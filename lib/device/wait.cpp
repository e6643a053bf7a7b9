// Asks an event again and again: at first without pauses, later with longer and longer ones.
#include "device/wait.h"

#include <chrono>
#include <string>
#include <thread>

#include <rota/error.h>

#include "base/time.h"

namespace rota::device {
namespace {

constexpr std::chrono::seconds kLongestWait{30};
constexpr std::chrono::microseconds kSpins{50};
constexpr std::chrono::milliseconds kYields{1};
constexpr std::chrono::microseconds kNap{50};

}  // namespace

void wait_for(const Event& event, std::uint8_t device, std::string_view what) {
  if (event.has_happened()) return;
  const base::TimePoint start = base::Clock::now();
  while (!event.has_happened()) {
    const base::Duration waited = base::Clock::now() - start;
    if (waited > kLongestWait) {
      throw Error(ErrorCode::kTimeout,
                  "device " + std::to_string(device) + " did not end " + std::string(what) +
                      " within " + base::to_text(kLongestWait) + ": another program may block it");
    }
    if (waited > kYields) {
      std::this_thread::sleep_for(kNap);
    } else if (waited > kSpins) {
      std::this_thread::yield();
    }
  }
}

}  // namespace rota::device
