// A flow of control with a stack of its own: several of them take turns in one real thread. So a
// test decides which "thread" of the code under test runs next.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <span>

namespace rota::testing {

class Fiber {
 public:
  // `body` starts in the first go_on(). It must not throw. A fiber that is destroyed before its
  // body has ended leaves the objects on `stack` as they are.
  Fiber(std::span<std::byte> stack, std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it calls pause() or ends. Requires !is_over(). A fiber may not call it.
  void go_on();

  // Called by the body: returns from go_on(). The next go_on() returns from pause().
  void pause();

  bool is_over() const noexcept { return is_over_; }

 private:
  static void enter();

  std::function<void()> body_;
  ucontext_t beginning_{};
  bool has_begun_ = false;
  bool is_over_ = false;
  jmp_buf place_{};  // Where the body continues once it has begun.
  jmp_buf back_{};
  void* exceptions_[2] = {};  // The C++ runtime's state of handled exceptions.
};

}  // namespace rota::testing
