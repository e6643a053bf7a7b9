// One rank that sums given gradients, in a world whose ranks may have other processors. Rank 0
// prints a line for each sum, such as "float32 sum top-k 100003 1f0e…", which ends with a hash of
// the result's bits. Exits with 1 if a rank has other bits than rank 0. Method: the gradients are
// random bits, subnormal numbers among them, so each rounding and each order of additions shows.
#include <rota/communicator.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr std::array<std::size_t, 3> kCounts = {1, 1009, 100'003};
constexpr std::array kReductions = {rota::ReduceOp::kSum, rota::ReduceOp::kMean,
                                    rota::ReduceOp::kMin, rota::ReduceOp::kMax};
constexpr std::array kCodecs = {rota::Codec::kBfloat16, rota::Codec::kFloat16, rota::Codec::kInt8,
                                rota::Codec::kInt8Stochastic, rota::Codec::kTopK};

// SplitMix64.
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// Returns random numbers below 2 in magnitude. The highest bit of the exponent is 0, so none is
// infinite or NaN.
template <class T>
std::vector<T> given(std::size_t rank, std::size_t count) {
  constexpr unsigned kBits = sizeof(T) * 8;
  using Bits = std::conditional_t<kBits == 16, std::uint16_t,
                                  std::conditional_t<kBits == 32, std::uint32_t, std::uint64_t>>;
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = scrambled((std::uint64_t{rank} << 32) + i);
    const auto bits = static_cast<Bits>(random & ~(std::uint64_t{1} << (kBits - 2)));
    values[i] = std::bit_cast<T>(bits);
  }
  return values;
}

// FNV-1a.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

class Rank {
 public:
  // Makes all sums. Returns false if ranks differ.
  bool sum_all() {
    sum_type<float>("float32");
    sum_type<double>("float64");
    sum_type<rota::Float16>("float16");
    sum_type<rota::Bfloat16>("bfloat16");
    for (const rota::Codec codec : kCodecs) sum_coded(codec);
    return all_agree_;
  }

 private:
  template <class T>
  void sum_type(const char* type) {
    for (const rota::ReduceOp op : kReductions) {
      for (const std::size_t count : kCounts) {
        std::vector<T> values = given<T>(world_.rank(), count);
        world_.all_reduce(values, op);
        say(std::string(type) + " " + std::string(to_string(op)) + " identity", count,
            std::as_bytes(std::span(values)));
      }
    }
  }

  // Sums twice: the second sum adds what the first has lost.
  void sum_coded(rota::Codec codec) {
    const auto mean = rota::Reduction(rota::ReduceOp::kMean).by(codec);
    for (const std::size_t count : kCounts) {
      std::vector<float> lost(count);
      for (const char* round : {"first", "second"}) {
        std::vector<float> values = given<float>(world_.rank(), count);
        if (wants_feedback(codec)) {
          world_.all_reduce_with_feedback(values, lost, mean);
        } else {
          world_.all_reduce(values, mean);
        }
        say(std::string("float32 ") + round + " " + std::string(to_string(codec)), count,
            std::as_bytes(std::span(values)));
      }
    }
  }

  void say(const std::string& sum, std::size_t count, std::span<const std::byte> result) {
    const std::array<std::int64_t, 1> own{static_cast<std::int64_t>(hash_of(result))};
    std::vector<std::int64_t> all(world_.world_size());
    world_.all_gather(own, all);
    if (own[0] != all[0]) {
      std::fprintf(stderr, "rank %zu has other bits: %s %zu\n", world_.rank(), sum.c_str(), count);
    }
    for (const std::int64_t hash : all) all_agree_ = all_agree_ && hash == all[0];
    if (world_.rank() != 0) return;
    std::printf("%s %zu %llx\n", sum.c_str(), count, static_cast<unsigned long long>(all[0]));
  }

  rota::Communicator world_;
  bool all_agree_ = true;
};

}  // namespace

int main() {
  try {
    return Rank().sum_all() ? 0 : 1;
  } catch (const rota::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
