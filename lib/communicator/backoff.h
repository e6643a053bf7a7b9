// Decides how a waiting thread uses its core: it spins while that is cheap, then yields, then
// sleeps.
#pragma once
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/time.h"

namespace rota {

// The state of one wait. Call idle() after each look that found nothing, and reset() after
// something moved. While fast() is true, idle() reads no clock; afterwards each idle() updates
// now().
class Backoff {
 public:
  enum class Mode : std::uint8_t {
    kSpin,   // The thread has a core: a context switch costs more than the wait.
    kYield,  // Ranks outnumber cores: the awaited peer may need this core.
    kSleep,  // The caller's own thread needs the core: sleep immediately.
  };

  // How many looks find nothing before the thread yields, and how long it yields before it sleeps.
  struct Patience {
    int spins;
    std::chrono::milliseconds yield_for;
  };

  // A memory look costs some ten ns: the spins take 50 to 100 µs.
  static constexpr Patience kOnMemory{.spins = 4096, .yield_for = std::chrono::milliseconds(1)};
  // A library such as MPI makes system calls between hosts, and moves data only while it is called.
  // A sleep would stop the data.
  static constexpr Patience kOnLibraries{.spins = 128, .yield_for = std::chrono::milliseconds(50)};
  // Over sockets, each look costs a system call or more. Kernels put two ranks that talk over
  // loopback onto one core. There each rank must wait until the other rank has finished its looks,
  // so there must be few looks. If each rank has its own core, a yield costs less than a look.
  static constexpr Patience kOnSockets{.spins = 8, .yield_for = std::chrono::milliseconds(1)};

  explicit Backoff(Mode mode, const Patience& patience = kOnMemory) noexcept
      : mode_(mode),
        spins_(mode == Mode::kSpin ? patience.spins : 0),
        yield_for_(patience.yield_for) {
    reset();
  }

  void reset() noexcept {
    spins_left_ = spins_;
    idle_since_ = {};
  }

  bool fast() const noexcept { return spins_left_ > 0; }

  // Returns true if the thread should sleep now.
  bool idle() noexcept {
    if (spins_left_ > 0 && --spins_left_ > 0) {
      if (spins_ - spins_left_ > kBareSpins) relax();
      return false;
    }
    // The last spin reads the clock too, because fast() is false after it.
    now_ = base::Clock::now();
    if (idle_since_ == base::TimePoint{}) idle_since_ = now_;
    if (mode_ == Mode::kSleep || now_ - idle_since_ > yield_for_) return true;
    std::this_thread::yield();
    return false;
  }

  base::TimePoint now() const noexcept { return now_; }

 private:
  // The first spins skip the pause instruction, whose latency would delay a quick answer.
  static constexpr int kBareSpins = 256;

  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
    asm volatile("isb");  // `yield` does nothing on a core that runs one thread at a time.
#endif
  }

  Mode mode_;
  int spins_;
  std::chrono::milliseconds yield_for_;
  int spins_left_ = 0;
  base::TimePoint idle_since_{};
  base::TimePoint now_{};
};

}  // namespace rota
