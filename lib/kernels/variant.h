// Lists the variants of the kernels, and chooses the variant that runs. There are four kinds of
// kernels: Reductions, Codings, Optimizers and Tiles. Each kind has a table, with a row for each
// variant that has kernels of this kind. So a new variant may have kernels of one kind only. For
// the other kinds, rota then uses the variants that follow the new variant in the list.
//
// Every row gives the bits of the reference, "scalar": lanes never mix, and no multiplication is
// fused with an addition. Only the bits of a NaN may differ.
#pragma once
#include <span>
#include <string_view>

namespace rota::kernels {

struct Variant {
  const char* name;  // "avx512", "avx2", "neon-fp16", "neon", "scalar"
  bool (*supported)() noexcept;
};

using Variants = std::span<const Variant* const>;  // Best first.

// Returns all variants. The last variant, "scalar", runs on every machine.
Variants variants() noexcept;

// Returns the best variant that this machine supports.
const Variant& best_variant() noexcept;

// Returns the variants of `all` that may run: all of them or, if `forced` is not empty, the variant
// of that name and the variants after it. Throws Error kInvalidArgument if the forced variant is
// unknown or not supported; the text lists the variants that this machine supports.
Variants allowed(Variants all, std::string_view forced);

// Returns the row of the best supported variant of `all` that has a row. The last row of the table
// runs on every machine.
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

// Returns the kernels of one kind, as in select<Reductions>(). Code calls it once, when it makes a
// plan, and never in a loop.
//
// Without a name, these are the kernels of the best supported variant that has this kind. With a
// name, they are the kernels of that variant. If that variant lacks the kind, they are the kernels
// of the best supported variant after it, never of a better one: "avx2" excludes AVX-512, and
// "scalar" uses scalar kernels only. Throws what allowed() throws, whatever the kind.
template <class Kernels>
const Kernels& select(std::string_view forced = {}) {
  return best_row<Kernels>(allowed(variants(), forced), Kernels::table());
}

// Returns the kernels of "scalar", which are also the fastest for few elements.
template <class Kernels>
const Kernels& reference() noexcept {
  return *Kernels::table().back();
}

}  // namespace rota::kernels
