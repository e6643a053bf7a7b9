// One rank of a world that prints the bits of its all-reduces: reproducibility_ranks [KERNELS].
// Rank 0 prints a line for each plan and each way to call it, such as "ring in-place 1f0e…".
// The line ends with a hash of the result's bits. Exits with 1 if a rank has other bits than rank
// 0. Method: the values are fractions that no float holds, so another order of additions gives
// other bits.
#include <rota/communicator.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace {

using Floats = std::vector<float>;

constexpr std::size_t kCount = 1009;
constexpr std::size_t kFirst = 333;  // Length of the first of two buckets.
constexpr std::size_t kTerms = 6;    // Distributed over 2 or 3 ranks.

float value_of(std::size_t rank, std::size_t index) {
  return 1.0F / static_cast<float>(3 + index + 7 * rank);
}

class Rank {
 public:
  explicit Rank(rota::Communicator& world) : world_(world) {}

  // Prints all lines. Returns false if ranks differ.
  bool say_all() {
    std::vector<const char*> plans = {"ring", "direct", "hub",      "by-host", "halving-doubling",
                                      "tree", "star",   "two-level"};
    if (world_.rank_table().transport == "shm") plans.push_back("shared-memory");
    for (const char* plan : plans) {
      rota::Communicator comm = world_.split(0, 0, plan);
      say(plan, "in-place", in_place(comm));
      say(plan, "in-shared-memory", in_shared_memory(comm));
      say(plan, "from-an-input", from_an_input(comm));
      say(plan, "in-two-buckets", in_two_buckets(comm));
      say(plan, "in-a-group", in_a_group(comm));
      if (kTerms % world_.world_size() == 0) say(plan, "of-six-terms", of_six_terms(comm));
    }
    return all_agree_;
  }

 private:
  Floats given() const {
    Floats values(kCount);
    for (std::size_t i = 0; i < kCount; ++i) values[i] = value_of(world_.rank(), i);
    return values;
  }

  Floats in_place(rota::Communicator& comm) const {
    Floats values = given();
    comm.all_reduce(values, rota::ReduceOp::kMean);
    return values;
  }
  Floats in_shared_memory(rota::Communicator& comm) const {
    const rota::Block block = comm.allocate(kCount * sizeof(float));
    const std::span shared(reinterpret_cast<float*>(block.bytes().data()), kCount);
    const Floats values = given();
    std::copy(values.begin(), values.end(), shared.begin());
    comm.all_reduce(shared, rota::ReduceOp::kMean);
    return {shared.begin(), shared.end()};
  }
  Floats from_an_input(rota::Communicator& comm) const {
    const Floats input = given();
    Floats output(kCount);
    comm.all_reduce(input, output, rota::ReduceOp::kMean);
    return output;
  }
  Floats in_two_buckets(rota::Communicator& comm) const {
    Floats values = given();
    comm.all_reduce(std::span(values).first(kFirst), rota::ReduceOp::kMean);
    comm.all_reduce(std::span(values).subspan(kFirst), rota::ReduceOp::kMean);
    return values;
  }
  Floats in_a_group(rota::Communicator& comm) const {
    Floats values = given();
    Floats other = given();  // Comes before `values` in the group, so `values` have other chunks.
    comm.all_reduce({std::span(other).first(kFirst), values}, rota::ReduceOp::kMean);
    return values;
  }
  Floats of_six_terms(rota::Communicator& comm) const {
    const std::size_t own = kTerms / world_.world_size();
    Floats values(kCount);
    for (std::size_t term = world_.rank() * own; term < (world_.rank() + 1) * own; ++term) {
      for (std::size_t i = 0; i < kCount; ++i) values[i] += value_of(term, i);
    }
    comm.all_reduce(values, rota::ReduceOp::kSum);
    return values;
  }

  // FNV-1a.
  static std::uint64_t hash_of(const Floats& values) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const std::byte byte : std::as_bytes(std::span(values))) {
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
    }
    return hash;
  }

  void say(const char* plan, const char* way, const Floats& result) {
    const std::array<std::int64_t, 1> own{static_cast<std::int64_t>(hash_of(result))};
    std::vector<std::int64_t> all(world_.world_size());
    world_.all_gather(own, all);
    for (const std::int64_t hash : all) all_agree_ = all_agree_ && hash == all[0];
    if (world_.rank() != 0) return;
    std::printf("%s %s %llx\n", plan, way, static_cast<unsigned long long>(all[0]));
  }

  rota::Communicator& world_;
  bool all_agree_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  auto options = rota::CommunicatorOptions::from_environment();
  if (argc > 1) options.kernels = argv[1];
  rota::Communicator world(options);
  return Rank(world).say_all() ? 0 : 1;
}
