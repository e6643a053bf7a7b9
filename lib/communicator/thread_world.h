// A world whose ranks are threads of this process, over shared memory.
#pragma once
#include <cstddef>
#include <vector>

#include <rota/communicator.h>

namespace rota {

struct ThreadWorldOptions {
  std::size_t world_size = 1;
  std::size_t arena_bytes = std::size_t{64} << 20;  // Of each rank; sparse.
  CommunicatorOptions communicator;                 // Its deadline is 60 s where it says none.
};

struct ThreadWorld {
  // Index = rank. Each is used by one thread at a time, as any Communicator is.
  // Throws Error kSystem, kNoMemory, kInvalidArgument.
  static std::vector<Communicator> make(const ThreadWorldOptions& options);
};

}  // namespace rota
