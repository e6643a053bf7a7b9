// Remembers which process made an object. The child of a fork has a copy of the object, but none of
// the threads that work on it. What the copy did to sockets, files or shared memory would happen to
// the parent.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace rota::os {

// A handler of fork() counts the forks, so to ask costs no system call. vfork(), posix_spawn() and
// system() need no handler: their child only starts a program. A child of _Fork() or clone() runs
// no handler, and counts as its parent.
class Origin {
 public:
  // The object is made in this process. Throws Error kNoMemory.
  Origin();

  // Returns whether this process made the object.
  bool is_here() const noexcept {
    // Relaxed: only the handler writes it, while the child of a fork has one thread.
    return number_ == number_of_process.load(std::memory_order_relaxed);
  }

  // Throws Error kInvalidArgument in another process. `what` is the object: "this Checkpointer".
  void require_here(std::string_view what) const {
    if (!is_here()) refuse(what);
  }

  // In another process, leaves the object as it is: nobody owns it from then on. `object` is the
  // object with this origin.
  template <class Object>
  void leave_elsewhere(std::unique_ptr<Object>& object) const noexcept {
    if (!is_here()) static_cast<void>(object.release());
  }

 private:
  static void note_fork() noexcept;
  [[noreturn]] static void refuse(std::string_view what);

  // Counts the forks between the first process with an Origin and this process.
  static inline std::atomic<std::uint32_t> number_of_process{0};

  std::uint32_t number_;
};

}  // namespace rota::os
