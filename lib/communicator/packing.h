// How the buffers of a grouped call become one operation: where peers reach all of them, by a list
// of where they are; else they lie side by side while it runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/memory.h>
#include <rota/values.h>

#include "collectives/running.h"
#include "collectives/shared/reach.h"

namespace rota {

struct Packing {
  std::vector<Values> parts;
  Block memory;            // The list, or room for the values of all parts.
  bool is_listed = false;  // It is the list.
  std::uint64_t call = 0;  // The last one that was found to be of these buffers.
  const collectives::Method* method = nullptr;  // Of its operation.

  const collectives::PartList* list() const noexcept {
    return is_listed ? reinterpret_cast<const collectives::PartList*>(memory.bytes().data())
                     : nullptr;
  }
  std::byte* values() const noexcept { return is_listed ? nullptr : memory.bytes().data(); }
};

bool are_same(std::span<const Values> group, std::span<const Values> other) noexcept;

// Whether it is of just these buffers.
bool is_of(const Packing& packing, std::span<const Values> group) noexcept;

// Whether peers that reach `memory` can work on the buffers where they lie, and it pays. May sort
// `scratch`, whose contents do not matter.
bool can_list(std::span<const Values> group, std::span<const std::byte> memory,
              std::vector<Values>& scratch);

// Makes packing.memory, of sizeof(PartList), the list of its parts. Requires can_list().
void list_parts(Packing& packing, std::span<const std::byte> memory) noexcept;

// Brings the parts' values together, and apart again. Where they are listed there is nothing to do.
void pack(const Packing& packing) noexcept;
void unpack(const Packing& packing) noexcept;

}  // namespace rota
