// The variants of the kernels, and which of them runs. Kernels are of four sorts: Reductions,
// Codings, Optimizers and Tiles. Each sort has a table, with a row for each variant that has
// kernels of it. So a new variant may have one sort, and take the others from the variants behind
// it.
//
// Every row gives the bits of the reference, "scalar": lanes never mix, and no multiply is fused
// with an add. Any NaN is as good as any other.
#pragma once
#include <span>
#include <string_view>

namespace rota::kernels {

struct Variant {
  const char* name;  // "avx512", "avx2", "scalar"
  bool (*supported)() noexcept;
};

using Variants = std::span<const Variant* const>;  // Best first.

// All that there are. The last one, "scalar", always runs.
Variants variants() noexcept;

// The best variant that this machine supports.
const Variant& best_variant() noexcept;

// The part of `all` that may run: all of it or, where `forced` is not empty, the variant of that
// name and those behind it. Throws Error kInvalidArgument, listing what this machine supports, if
// the forced variant is unknown or not supported.
Variants allowed(Variants all, std::string_view forced);

// The row of the best supported variant of `all` that has one. The table's last row always runs.
template <class Kernels>
const Kernels& best_row(Variants all, std::span<const Kernels* const> table) noexcept {
  for (const Variant* variant : all) {
    if (!variant->supported()) continue;
    for (const Kernels* row : table) {
      if (row->variant == variant) return *row;
    }
  }
  return *table.back();
}

// The kernels of one sort, as in select<Reductions>(). Chosen once, when a plan is made; never in a
// loop.
//
// Without a name, they are those of the best supported variant that has the sort. With a name, they
// are that variant's own. Where it lacks the sort, they are those of the best supported variant
// behind it, and never of a better one: "avx2" keeps AVX-512 away, and "scalar" is all scalar.
// Throws as allowed() does, whatever the sort.
template <class Kernels>
const Kernels& select(std::string_view forced = {}) {
  return best_row<Kernels>(allowed(variants(), forced), Kernels::table());
}

// The kernels of "scalar". For few elements they are the fastest as well.
template <class Kernels>
const Kernels& reference() noexcept {
  return *Kernels::table().back();
}

}  // namespace rota::kernels
