// Run by rotarun: memory_ranks MIB. Measures how much memory a rank's collectives take beyond the
// rank's buffer, and compares it with the formula of docs/memory.md. The measured value must not
// exceed the bound. It must not be less than half of the bound either, because a bound that is much
// too high is useless. Rank 0 prints a line for each rank, and the exit code is the verdict. malloc
// keeps freed memory for the next calls of a thread, and this memory counts as heap. So the program
// needs GLIBC_TUNABLES=glibc.malloc.tcache_count=0 in the environment.
#include <malloc.h>
#include <rota/communicator.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStage = 256 * 1024;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Returns how many bytes of this rank's arena have real pages; 0 if the rank has no arena.
std::size_t arena_bytes(std::size_t rank) {
  const std::string name = "/memfd:rota-arena-" + std::to_string(rank) + " ";
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored).string();
    struct stat status {};
    if (!target.starts_with(name) || ::stat(entry.path().c_str(), &status) != 0) continue;
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }
  return 0;
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::size_t peak_resident_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != "VmHWM:") continue;
    std::size_t kibibytes = 0;
    file >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

// Returns the bound that the formula gives for this program's calls.
std::size_t bound(std::size_t n, bool is_shm) {
  constexpr std::size_t kPlans = 5;
  const std::size_t coordinator = 64 * 1024;
  const std::size_t front = is_shm ? kPage + whole_pages(192 * n) : 0;
  const std::size_t proof = is_shm ? 0 : 192 * 1024;
  const std::size_t communicator = 24 * 1024 + 1536 * n;
  const std::size_t plans = kPlans * (768 * n + 512);
  // Over TCP, the large all-reduce uses the ring, which stages the messages of one neighbour. With
  // more than two ranks, the small one uses the direct plan, which stages the messages of all peers
  // except one; the ring's neighbour is among them. With two ranks, the small one uses the hub,
  // which stages nothing.
  const std::size_t stages = is_shm || n == 2 ? kStage : (n - 2) * kStage;
  return coordinator + front + proof + communicator + plans + stages;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t heap_before = heap_bytes();
  rota::Communicator ranks;
  const std::size_t n = ranks.world_size();
  const bool is_shm = ranks.rank_table().transport == "shm";
  const std::size_t count = std::strtoull(argc > 1 ? argv[1] : "16", nullptr, 10) * 1024 * 256;
  const rota::Block block = ranks.allocate(count * sizeof(float));
  const std::span values(reinterpret_cast<float*>(block.bytes().data()), count);
  std::fill(values.begin(), values.end(), 1.0F);
  std::vector<float> own(1000, 1.0F);  // Private memory: staged, or sent directly.

  for (int round = 0; round < 3; ++round) {
    ranks.all_reduce(values, rota::ReduceOp::kMean);
    ranks.broadcast(values, 0);
    ranks.all_gather(values);
    ranks.all_reduce(own, rota::ReduceOp::kMean);
    ranks.barrier();
  }
  const std::size_t arena = arena_bytes(ranks.rank());
  const std::size_t given = count * sizeof(float) + own.size() * sizeof(float);
  const std::size_t heap = heap_bytes();
  const std::size_t taken = arena + heap - std::min(heap, heap_before);
  const std::size_t beyond = taken > given ? taken - given : 0;
  const std::size_t allowed = bound(n, is_shm);

  const std::array<std::int64_t, 3> mine = {static_cast<std::int64_t>(beyond),
                                            static_cast<std::int64_t>(allowed),
                                            static_cast<std::int64_t>(peak_resident_bytes())};
  std::vector<std::int64_t> all(mine.size() * n);
  ranks.all_gather(mine, all);
  for (std::size_t rank = 0; ranks.rank() == 0 && rank < n; ++rank) {
    std::printf(
        "rank %zu of %zu over %s: %.1f KiB beyond its buffer, of %.1f KiB; VmHWM %.1f MiB\n", rank,
        n, ranks.rank_table().transport.c_str(), static_cast<double>(all[3 * rank]) / 1024,
        static_cast<double>(all[3 * rank + 1]) / 1024,
        static_cast<double>(all[3 * rank + 2]) / (1024.0 * 1024));
  }
  std::fflush(stdout);
  ranks.barrier();  // Rank 0 has printed before a rank can fail.
  const bool has_seen_its_arena = !is_shm || arena >= count * sizeof(float);
  const bool is_bound = beyond <= allowed && 2 * beyond >= allowed;
  return has_seen_its_arena && is_bound ? 0 : 1;
}
