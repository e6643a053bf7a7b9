// Tests that a barrier waits for all ranks, between real processes over a real transport. Each rank
// sets marks for the others. A mark is a word of a file that all ranks map, on whichever host the
// ranks run. The test's hosts share their files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include "ranks/ranks.h"
#include "testing/barrier_check.h"

namespace rota {
namespace {

// One word per rank. Rank 0 makes the file, and all ranks have it when the constructor returns.
class SharedMarks {
 public:
  explicit SharedMarks(Communicator& comm) : bytes_(comm.world_size() * sizeof(testing::Mark)) {
    std::array<char, 256> path{};
    if (comm.rank() == 0) make_file(path);
    comm.broadcast(std::as_writable_bytes(std::span(path)), 0);
    map(path.data());
    std::array<std::int32_t, 1> done{1};
    comm.all_reduce(done, ReduceOp::kSum);
    if (comm.rank() == 0) ::unlink(path.data());
  }
  SharedMarks(const SharedMarks&) = delete;
  ~SharedMarks() { ::munmap(start_, bytes_); }

  std::span<testing::Mark> all() const {
    return {static_cast<testing::Mark*>(start_), bytes_ / sizeof(testing::Mark)};
  }

 private:
  void make_file(std::array<char, 256>& path) const {
    const std::string name = std::filesystem::temp_directory_path() / "rota-marks-XXXXXX";
    std::copy(name.begin(), name.end(), path.begin());
    const int file = ::mkstemp(path.data());
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes_)) != 0) std::abort();
    ::close(file);
  }
  void map(const char* path) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    start_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (start_ == MAP_FAILED) std::abort();
    ::close(file);
  }

  std::size_t bytes_;
  void* start_ = nullptr;
};

TEST(Barrier, IsLeftWhenTheLastHasEntered) {
  const SharedMarks marks(the_communicator());
  testing::BarrierCheck(the_communicator(), marks.all()).run();
}

TEST(Barrier, FollowsBarriers) {
  for (int i = 0; i < 200; ++i) the_communicator().barrier();
}

}  // namespace
}  // namespace rota
