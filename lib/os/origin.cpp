// Counts forks, and refuses what belongs to the parent.
#include "os/origin.h"

#include <pthread.h>

#include <string>

#include <rota/error.h>

namespace rota::os {

void Origin::note_fork() noexcept { number_of_process.fetch_add(1, std::memory_order_relaxed); }

// A fork before the first Origin needs no handler: it copies no object that has one.
Origin::Origin() : number_(number_of_process.load(std::memory_order_relaxed)) {
  static const int kError = pthread_atfork(nullptr, nullptr, &note_fork);
  if (kError != 0) throw Error(ErrorCode::kNoMemory, "there is no room for a handler of fork");
}

void Origin::refuse(std::string_view what) {
  throw Error(ErrorCode::kInvalidArgument,
              std::string(what) +
                  " was made before the fork of this process, and works only in the process that "
                  "made it: use it there");
}

}  // namespace rota::os
