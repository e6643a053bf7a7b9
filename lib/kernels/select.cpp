// Has the tables of variants and of their kernels, and chooses a variant.
#include <rota/error.h>

#include <string>

#include "kernels/cpu/rows.h"
#include "kernels/variant.h"

namespace rota::kernels {
namespace {

constexpr const Variant* kVariants[] = {
#if defined(__x86_64__)
    &cpu::kAvx512,
    &cpu::kAvx2,
#elif defined(__aarch64__)
    &cpu::kNeonFp16,
    &cpu::kNeon,
#elif defined(ROTA_HAS_NEON)
    &cpu::kNeon,
#endif
    &cpu::kScalar,
};

constexpr const Reductions* kReductions[] = {
#if defined(__x86_64__)
    &cpu::kAvx512Reductions,
    &cpu::kAvx2Reductions,
#elif defined(__aarch64__)
    &cpu::kNeonFp16Reductions,
    &cpu::kNeonReductions,
#elif defined(ROTA_HAS_NEON)
    &cpu::kNeonReductions,
#endif
    &cpu::kScalarReductions,
};

constexpr const Codings* kCodings[] = {
#if defined(__x86_64__)
    &cpu::kAvx512Codings,
    &cpu::kAvx2Codings,
#elif defined(__aarch64__)
    &cpu::kNeonCodings,
#endif
    &cpu::kScalarCodings,
};

constexpr const Optimizers* kOptimizers[] = {
#if defined(__x86_64__)
    &cpu::kAvx512Optimizers,
    &cpu::kAvx2Optimizers,
#elif defined(__aarch64__)
    &cpu::kNeonOptimizers,
#endif
    &cpu::kScalarOptimizers,
};

constexpr const Tiles* kTiles[] = {
#if defined(__x86_64__)
    &cpu::kAvx512Tiles,
    &cpu::kAvx2Tiles,
#elif defined(__aarch64__)
    &cpu::kNeonTiles,
#endif
    &cpu::kScalarTiles,
};

}  // namespace

Variants variants() noexcept { return kVariants; }
std::span<const Reductions* const> Reductions::table() noexcept { return kReductions; }
std::span<const Codings* const> Codings::table() noexcept { return kCodings; }
std::span<const Optimizers* const> Optimizers::table() noexcept { return kOptimizers; }
std::span<const Tiles* const> Tiles::table() noexcept { return kTiles; }

const Variant& best_variant() noexcept {
  for (const Variant* variant : variants()) {
    if (variant->supported()) return *variant;
  }
  return *variants().back();
}

Variants allowed(Variants all, std::string_view forced) {
  if (forced.empty()) return all;
  std::string names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->supported()) continue;
    if (forced == all[i]->name) return all.subspan(i);
    names += names.empty() ? "" : ", ";
    names += all[i]->name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "this machine has no kernels named \"" + std::string(forced) + "\"; it has " + names);
}

}  // namespace rota::kernels
