// Uses contexts of the C library to enter a stack, and jumps from then on.
#include "testing/fiber.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <utility>

namespace rota::testing {
namespace {

Fiber* begun_last = nullptr;  // A body that begins finds its fiber here.

// The C++ runtime keeps this state for the one real thread. Each fiber needs its own.
void swap_exceptions(void* (&kept)[2]) {
  void* now[2];
  std::memcpy(now, abi::__cxa_get_globals(), sizeof now);
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), kept, sizeof now);
  std::memcpy(kept, now, sizeof now);
}

}  // namespace

Fiber::Fiber(std::span<std::byte> stack, std::function<void()> body) : body_(std::move(body)) {
  ::getcontext(&beginning_);
  beginning_.uc_stack.ss_sp = stack.data();
  beginning_.uc_stack.ss_size = stack.size();
  ::makecontext(&beginning_, &Fiber::enter, 0);
}

void Fiber::enter() {
  Fiber& self = *begun_last;
  self.body_();
  self.is_over_ = true;
  self.pause();
  std::abort();  // A fiber that is over does not go on.
}

// Jumps, because swapcontext makes a system call for the signal mask each time.
void Fiber::go_on() {
  swap_exceptions(exceptions_);
  if (_setjmp(back_) == 0) {
    if (std::exchange(has_begun_, true)) _longjmp(place_, 1);
    begun_last = this;
    ::setcontext(&beginning_);
  }
  swap_exceptions(exceptions_);
}

void Fiber::pause() {
  if (_setjmp(place_) == 0) _longjmp(back_, 1);
}

}  // namespace rota::testing
