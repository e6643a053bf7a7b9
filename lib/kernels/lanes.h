// Loads lanes from memory and stores lanes to it, whole or in part. All loops build on this. The
// including file first defines ROTA_TARGET and, in this namespace, Lanes<T> and kTurnRegisters.
// Lanes<T> has as many T as one instruction computes with. kTurnRegisters is the number of
// registers of each array that one turn of a simple loop works on.
#pragma once
#include <cstddef>
#include <cstring>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile rota without -ffast-math: its kernels would have other bits than on other ranks"
#endif

// A loop over registers must be unrolled, and the functions that it calls must become part of it:
// otherwise the compiler keeps the registers in memory.
#if !defined(ROTA_UNROLL)  // Compilers for GPUs have a pragma of their own.
#define ROTA_UNROLL _Pragma("GCC unroll 8")
#endif
#define ROTA_INLINE __attribute__((always_inline)) inline

namespace rota::kernels::cpu {
namespace {  // NOLINT(google-build-namespaces): each file that includes this has its own.

// For a loop with many arrays or with long operations: the number of registers of a processor is
// limited.
inline constexpr std::size_t kHalfTurn = kTurnRegisters > 1 ? kTurnRegisters / 2 : 1;

// For a loop whose arithmetic waits for a root and a quotient. Meanwhile, a core that runs in order
// computes with a second register. More registers would only wait for the unit that finds roots.
inline constexpr std::size_t kRootTurn = kTurnRegisters > 1 ? 2 : 1;

// For values that are stored in the type of the computation. Alignment does not matter.
template <class T>
struct Same {
  using Number = T;  // The type of computation.
  static constexpr std::size_t kElementBytes = sizeof(T);
  static constexpr std::size_t kCount = sizeof(Lanes<T>) / kElementBytes;

  ROTA_TARGET static Lanes<T> load(const std::byte* from) noexcept {
    Lanes<T> lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
  }
  ROTA_TARGET static void store(std::byte* to, Lanes<T> lanes) noexcept {
    std::memcpy(to, &lanes, sizeof(lanes));
  }
};

// So many registers that are loaded, computed with and stored together.
template <class Register, std::size_t kRegisters>
struct Group {
  static constexpr std::size_t kSize = kRegisters;
  Register each[kRegisters];
};

// Loads and stores a group. All registers are loaded before the first is stored, so a processor
// that keeps the order of its instructions need not wait for each result.
template <class Format, std::size_t kRegisters>
struct Grouped {
  using Registers = Group<decltype(Format::load(nullptr)), kRegisters>;
  static constexpr std::size_t kElementBytes = Format::kElementBytes;
  static constexpr std::size_t kCount = kRegisters * Format::kCount;
  static constexpr std::size_t kBytes = kCount * kElementBytes;

  ROTA_TARGET ROTA_INLINE static Registers load(const std::byte* from) noexcept {
    Registers registers;
    ROTA_UNROLL for (std::size_t i = 0; i < kRegisters; ++i) {
      registers.each[i] = Format::load(from + i * (kBytes / kRegisters));
    }
    return registers;
  }
  ROTA_TARGET ROTA_INLINE static void store(std::byte* to, const Registers& registers) noexcept {
    ROTA_UNROLL for (std::size_t i = 0; i < kRegisters; ++i) {
      Format::store(to + i * (kBytes / kRegisters), registers.each[i]);
    }
  }
  // Moves an address on, after its last use in a turn. If the compiler did so earlier, a core that
  // runs in order would wait for the new address. For the sum of 16 floats on a Cortex-A53,
  // llvm-mca counts 22 cycles without the asm, and 18.5 with it.
  template <class Byte>
  ROTA_TARGET ROTA_INLINE static void pass(Byte*& address) noexcept {
    if constexpr (kRegisters > 1) asm("" : "+r"(address));
    address += kBytes;
  }
};

// Returns the same address, but the compiler no longer knows what object is there. Otherwise the
// compiler assumes that a local variable has the alignment of lanes. GCC 12 does not ensure this
// alignment if AddressSanitizer keeps locals on its heap.
inline std::byte* anywhere(std::byte* address) noexcept {
  asm("" : "+r"(address)::"memory");
  return address;
}

// The next two functions load and store the end of an array, which has fewer elements than lanes.
// They copy these elements through a buffer with room for all lanes.
template <class Format>
ROTA_TARGET auto load_some(const std::byte* from, std::size_t count) noexcept {
  std::byte all[Format::kCount * Format::kElementBytes] = {};
  std::memcpy(all, from, count * Format::kElementBytes);
  return Format::load(anywhere(all));
}

template <class Format, class L>
ROTA_TARGET void store_some(std::byte* to, L lanes, std::size_t count) noexcept {
  std::byte all[Format::kCount * Format::kElementBytes];
  Format::store(anywhere(all), lanes);
  std::memcpy(to, all, count * Format::kElementBytes);
}

}  // namespace
}  // namespace rota::kernels::cpu
