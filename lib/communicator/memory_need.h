// Whether the memory that the control group allows has room for a buffer that every rank has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "communicator/group.h"

namespace rota {

// Empty where it has, and where there is no limit; else a sentence with what to raise, which in a
// pod is a field of its manifest.
std::string lack_of_memory(std::size_t buffer_bytes, std::size_t local_rank_count,
                           std::optional<std::uint64_t> limit_bytes, bool is_pod);

// Whether this process runs in a pod; from the environment.
bool is_in_pod();

// Says so on stderr before the kernel ends somebody for it: once, by the first rank of a host.
void warn_where_memory_lacks(const Group& group, std::size_t buffer_bytes);

}  // namespace rota
