// Upcalls are what libpmix asks of the server. libpmix asks in a thread of its own, which must not
// wait, so each upcall is queued there and handled in the main thread.
#pragma once
#include <pmix_server.h>

#include <mutex>
#include <string>
#include <vector>

#include "launcher/pmix/wire/pmix_message.h"
#include "os/poll_set.h"

namespace rota::launcher {

// One upcall. The main thread sends `message` to rotarun, and then calls `done` if it is set. A
// fence, and a request for a rank's data, end later: by a call of `answer`.
struct Upcall {
  PmixMessage message{};
  pmix_op_cbfunc_t done = nullptr;
  pmix_modex_cbfunc_t answer = nullptr;
  void* context = nullptr;  // For `done` or `answer`.
};

class Upcalls {
 public:
  // There is one queue in a process, because libpmix calls functions that know no object.
  static Upcalls& of_process();

  // Returns the functions that libpmix calls. They last as long as the process. Fences are given
  // for a world of so many ranks.
  pmix_server_module_t* module(std::uint32_t world_size);

  // Makes libpmix tell of ranks that close their connections without MPI_Finalize. Call it once
  // libpmix has started.
  void watch_connections();

  // Readable when take() returns upcalls.
  int fd() const noexcept { return wakeup_.fd(); }
  std::vector<Upcall> take();

  // May be called in any thread.
  void push(Upcall upcall);

  std::uint32_t world_size() const noexcept { return world_size_; }

 private:
  std::uint32_t world_size_ = 0;
  std::mutex mutex_;
  std::vector<Upcall> waiting_;
  os::Wakeup wakeup_;
};

}  // namespace rota::launcher
