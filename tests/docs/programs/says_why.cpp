// Says on its own why it cannot go on.
#include <rota/communicator.h>

#include <array>
#include <cstdio>
#include <string>

int main() try {
  rota::Communicator ranks;
  std::array<float, 4> values{};
  try {
    ranks.broadcast(values, ranks.world_size());  // There is no such root.
  } catch (const rota::Error& error) {
    // The call did nothing, and nothing is broken: the program may call again with valid arguments.
    if (error.code() != rota::ErrorCode::kInvalidArgument) throw;
    if (ranks.rank() == 0) std::printf("%s\n", error.what());
  }
  const bool disk_is_full = false;
  if (disk_is_full) ranks.abort("the disk is full");  // Every rank's calls throw kAborted now.
  ranks.barrier();
} catch (const rota::Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(to_string(error.code())).c_str(), error.what());
  if (error.blamed_rank()) std::fprintf(stderr, "see rank %zu\n", *error.blamed_rank());
  return 1;
}
