// Finds the variants that this machine can run, and picks one.
#include <rota/error.h>

#include <string>

#include "kernels/cpu/variants.h"

namespace rota::kernels {
namespace {

constexpr const Variant* kVariants[] = {
#if defined(__x86_64__)
    &cpu::kAvx512,
    &cpu::kAvx2,
#endif
    &cpu::kScalar,
};

}  // namespace

std::span<const Variant* const> variants() noexcept { return kVariants; }

const Variant& reference() noexcept { return cpu::kScalar; }

const Variant& select(std::string_view forced) {
  std::string names;
  for (const Variant* variant : variants()) {
    if (!variant->supported()) continue;
    if (forced.empty() || forced == variant->name) return *variant;
    names += names.empty() ? "" : ", ";
    names += variant->name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              "this machine has no kernels named \"" + std::string(forced) + "\"; it has " + names);
}

}  // namespace rota::kernels
