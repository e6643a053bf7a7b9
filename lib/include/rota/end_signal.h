// Lets a process that is asked to end, by SIGTERM, finish its work first.
#pragma once
#include <chrono>

#include <rota/export.h>

namespace rota {

// While there is an EndSignal, SIGTERM does not end the process, but is remembered. Make one at the
// beginning of a program that has something to finish, such as an evaluator, before it reads its
// data. Not in a rank of rotarun, which ends ranks by SIGTERM when the job has failed. There may be
// several. Threads may share one.
class ROTA_EXPORT EndSignal {
 public:
  // Throws Error kSystem.
  EndSignal();
  // If it is the last one, SIGTERM has its earlier effect again.
  ~EndSignal();
  EndSignal(const EndSignal&) = delete;
  EndSignal& operator=(const EndSignal&) = delete;

  bool has_come() const noexcept;

  // Waits until SIGTERM has come, for `limit` at most. Returns whether it has come.
  bool wait_for(std::chrono::milliseconds limit) const noexcept;
};

}  // namespace rota
