// How a thread that waits uses its core: spins while that is cheap, then yields, then sleeps.
#pragma once
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/time.h"

namespace rota {

// One wait that goes on: idle() after each look that found nothing, reset() when something moved.
// While fast() nobody reads a clock; after it, each idle() has brought now() up to date.
class Backoff {
 public:
  enum class Manner : std::uint8_t {
    kSpin,   // A core is free for us: a hand-over would cost more than the wait.
    kYield,  // Ranks outnumber cores: the peer that is waited for may need this one.
    kSleep,  // The caller's own thread needs it: step back at once.
  };

  // `spins`: as many looks as take some 50 to 100 µs, of sockets some 10.
  explicit Backoff(Manner manner, int spins = kSpins) noexcept
      : manner_(manner), spins_(manner == Manner::kSpin ? spins : 0) {
    reset();
  }

  // Of memory; and of sockets, where each look is a call of the system's or more. Kernels put two
  // ranks that talk over loopback onto one core, and there each waits for the other's looks to end:
  // few of them, then. Where each has a core of its own, to yield costs less than a look.
  static constexpr int kSpins = 4096;
  static constexpr int kSpinsOnSockets = 8;

  void reset() noexcept {
    spins_left_ = spins_;
    idle_since_ = {};
  }

  bool fast() const noexcept { return spins_left_ > 0; }

  // True if the next thing to do is to sleep.
  bool idle() noexcept {
    if (spins_left_ > 0 && --spins_left_ > 0) {
      if (spins_ - spins_left_ > kBareSpins) relax();
      return false;
    }
    // From the last spin on, as fast() is over with it.
    now_ = base::Clock::now();
    if (idle_since_ == base::TimePoint{}) idle_since_ = now_;
    if (manner_ == Manner::kSleep || now_ - idle_since_ > kYieldFor) return true;
    std::this_thread::yield();
    return false;
  }

  base::TimePoint now() const noexcept { return now_; }

 private:
  static constexpr int kBareSpins = 256;  // Of them, those that lose no time by saying so.
  static constexpr std::chrono::milliseconds kYieldFor{1};

  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    asm volatile("yield");
#endif
  }

  Manner manner_;
  int spins_;
  int spins_left_ = 0;
  base::TimePoint idle_since_{};
  base::TimePoint now_{};
};

}  // namespace rota
