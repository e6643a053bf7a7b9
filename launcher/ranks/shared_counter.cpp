// Maps a page for each counter.
#include "launcher/ranks/shared_counter.h"

#include <sys/mman.h>

#include <new>
#include <string>

#include <rota/error.h>

#include "os/system_error.h"

namespace rota::launcher {

SharedCounter* make_shared_counter(const char* what) {
  void* page = ::mmap(nullptr, sizeof(SharedCounter), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    throw Error(ErrorCode::kNoMemory,
                std::string("there is no memory for ") + what + os::advice_on_memory());
  }
  return new (page) SharedCounter(0);
}

}  // namespace rota::launcher
