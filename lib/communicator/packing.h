// Turns the buffers of a grouped call into one operation. If peers can access all buffers, the
// operation has a scatter list of their addresses. Otherwise their values are copied into one
// buffer before the operation runs, and back afterwards.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <rota/memory.h>
#include <rota/values.h>

#include "collectives/running.h"
#include "collectives/shared/scatter_list.h"

namespace rota {

struct Packing {
  std::vector<Values> parts;
  Block memory;                                 // The list, or the values of all parts.
  bool is_listed = false;                       // `memory` is the list.
  std::uint64_t call = 0;                       // Planner::Known::number of the latest call.
  const collectives::Method* method = nullptr;  // The operation's method.

  const collectives::ScatterList* list() const noexcept {
    return is_listed ? reinterpret_cast<const collectives::ScatterList*>(memory.bytes().data())
                     : nullptr;
  }
  std::byte* values() const noexcept { return is_listed ? nullptr : memory.bytes().data(); }
};

bool are_same(std::span<const Values> group, std::span<const Values> other) noexcept;

// Returns whether the packing is for exactly these buffers.
bool is_of(const Packing& packing, std::span<const Values> group) noexcept;

// kCheaper: a list must cost less than copies. kPossible: there can be no copies.
enum class ListIf : std::uint8_t { kCheaper, kPossible };

// Returns whether peers with access to `memory` can work on the buffers in place. Uses `scratch`
// for sorting; its contents do not matter.
bool can_list(std::span<const Values> group, std::span<const std::byte> memory, ListIf when,
              std::vector<Values>& scratch);

// Writes the list of the parts to packing.memory, which has sizeof(ScatterList) bytes. Requires
// can_list().
void list_parts(Packing& packing, std::span<const std::byte> memory) noexcept;

// Copies the values of all parts into `memory`, and back. With a list, both do nothing.
void copy_in(const Packing& packing) noexcept;
void copy_out(const Packing& packing) noexcept;

}  // namespace rota
