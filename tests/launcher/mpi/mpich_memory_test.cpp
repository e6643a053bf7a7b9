// Tests that the shared memory of an MPI world is found by the name that MPICH 5.0.2 gives it, and
// that the memory of other worlds stays.
#include "launcher/mpi/mpich_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rota::launcher {
namespace {

TEST(MpichMemory, IsRemovedForOneWorldAlone) {
  const std::string of_world = "/dev/shm/mpich_shm_5d680413_0";
  const std::string of_another = "/dev/shm/mpich_shm_5d680414_0";
  for (const std::string& path : {of_world, of_another}) std::ofstream(path) << "memory";
  remove_mpich_memory("rota-1");
  EXPECT_FALSE(std::filesystem::exists(of_world));
  EXPECT_TRUE(std::filesystem::exists(of_another));
  std::filesystem::remove(of_another);
}

}  // namespace
}  // namespace rota::launcher
