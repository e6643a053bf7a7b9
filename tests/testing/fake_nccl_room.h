// The memory through which the ranks of a communicator of the fake NCCL see each other.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace rota::testing {

// What ranks must agree on.
struct PartFacts {
  enum class Kind : int {
    kAllReduce,
    kReduce,
    kReduceScatter,
    kAllGather,
    kBroadcast,
    kSend,
    kReceive
  };
  Kind kind = Kind::kAllReduce;
  int type = 0;
  int op = 0;
  int peer = 0;  // Or the root.
  std::size_t count = 0;

  bool is_between_two() const { return kind == Kind::kSend || kind == Kind::kReceive; }
  friend bool operator==(const PartFacts&, const PartFacts&) = default;
};

// The name of a room is the path of a descriptor of the process that has made it. So nothing is
// left behind.
class Room {
 public:
  static constexpr std::size_t kMostParts = 256;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  struct Slot {
    std::atomic<pid_t> pid;  // 0: the rank is not here yet.
    std::atomic<int> device;
    std::atomic<std::uint64_t> shown;  // Operations whose values this rank has shown, …
    std::atomic<std::uint64_t> taken;  // … and whose result it has taken.
    std::size_t part_count;            // The next four are of the operation shown last.
    bool is_registered;                // All of its buffers are.
    std::array<PartFacts, kMostParts> parts;
    std::array<std::size_t, kMostParts> offsets;
  };

  Room() = default;
  Room(const Room&) = delete;
  ~Room() {
    if (memory_) munmap(memory_, kBytes);
  }

  // Writes the name of a new room to `name`.
  static bool make(char* name, std::size_t bytes) {
    const int file = memfd_create("fake nccl", MFD_CLOEXEC);  // Open until the process ends.
    if (file < 0 || ftruncate(file, kBytes) != 0) return false;
    std::snprintf(name, bytes, "/proc/%d/fd/%d", getpid(), file);
    return true;
  }

  // Returns false if the process that has made the room has ended.
  bool enter(const char* name) {
    const int file = open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<std::byte*>(memory);
    return true;
  }

  Slot& slot(int rank) const { return *reinterpret_cast<Slot*>(place(rank)); }
  std::byte* data(int rank) const { return place(rank) + kSlotBytes; }

 private:
  static constexpr std::size_t kMostRanks = 16;
  static constexpr std::size_t kSlotBytes = 64 * 1024;
  static_assert(sizeof(Slot) <= kSlotBytes);
  static constexpr std::size_t kBytes = kMostRanks * (kSlotBytes + kMostBytes);

  std::byte* place(int rank) const {
    return memory_ + static_cast<std::size_t>(rank) * (kSlotBytes + kMostBytes);
  }

  std::byte* memory_ = nullptr;
};

}  // namespace rota::testing
