// Lists the parts of a grouped call, or copies them.
#include "communicator/packing.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace rota {
namespace {

using collectives::ScatterList;

// If the average part is smaller, a list costs more than copying the values in and out.
constexpr std::size_t kLeastBytesOfAPart = 256;

bool lies_in(const Values& values, std::span<const std::byte> memory) noexcept {
  const std::less_equal<> not_behind;
  return not_behind(memory.data(), values.data()) &&
         not_behind(values.data() + values.bytes(), memory.data() + memory.size());
}

}  // namespace

bool are_same(std::span<const Values> group, std::span<const Values> other) noexcept {
  return std::ranges::equal(group, other, [](const Values& a, const Values& b) {
    return a.data() == b.data() && a.count() == b.count() && a.type() == b.type() &&
           a.memory() == b.memory();
  });
}

bool is_of(const Packing& packing, std::span<const Values> group) noexcept {
  return are_same(packing.parts, group);
}

bool can_list(std::span<const Values> group, std::span<const std::byte> memory, ListIf when,
              std::vector<Values>& scratch) {
  scratch.clear();
  std::size_t bytes = 0;
  for (const Values& values : group) {
    if (values.count() == 0) continue;
    if (!lies_in(values, memory)) return false;
    bytes += values.bytes();
    scratch.push_back(values);
  }
  if (scratch.size() > ScatterList::kMost) return false;
  if (when == ListIf::kCheaper && bytes < scratch.size() * kLeastBytesOfAPart) return false;
  // Parts must not overlap: in place, a value in two parts would be added up twice.
  std::ranges::sort(scratch, {}, &Values::data);
  const auto overlap = [](const Values& a, const Values& b) {
    return a.data() + a.bytes() > b.data();
  };
  return std::ranges::adjacent_find(scratch, overlap) == scratch.end();
}

void list_parts(Packing& packing, std::span<const std::byte> memory) noexcept {
  auto& list = *reinterpret_cast<ScatterList*>(packing.memory.bytes().data());
  std::size_t count = 0;
  for (const Values& part : packing.parts) {
    if (part.count() == 0) continue;
    list.parts[count++] = {static_cast<std::uint64_t>(part.data() - memory.data()), part.bytes()};
  }
  list.count = count;
  packing.is_listed = true;
}

void copy_in(const Packing& packing) noexcept {
  if (packing.is_listed) return;
  std::byte* to = packing.memory.bytes().data();
  for (const Values& part : packing.parts) {
    if (part.count() > 0) std::memcpy(to, part.data(), part.bytes());
    to += part.bytes();
  }
}

void copy_out(const Packing& packing) noexcept {
  if (packing.is_listed) return;
  const std::byte* from = packing.memory.bytes().data();
  for (const Values& part : packing.parts) {
    if (part.count() > 0) std::memcpy(part.data(), from, part.bytes());
    from += part.bytes();
  }
}

}  // namespace rota
