// Finds the table of NCCL's functions, and says which NCCL it is.
#pragma once
#include <string>

#include <rota/nccl_calls.h>

namespace rota::collectives::nccl {

// Returns the table that rota uses, or null. Any thread may call it.
const rota::nccl::Calls* calls_in_use() noexcept;

// Returns the table that rota uses. If there is none, opens the library librota_nccl.so, or the
// file that the environment variable ROTA_NCCL_LIBRARY names. Throws Error kInvalidArgument with
// what is missing.
const rota::nccl::Calls& open();

// Returns a name such as "NCCL 2.28.9".
std::string name_of(const rota::nccl::Calls& calls);

// Returns what this NCCL can do that an older one cannot, such as "split, shrink", or "nothing
// new".
std::string abilities_of(const rota::nccl::Calls& calls);

}  // namespace rota::collectives::nccl
