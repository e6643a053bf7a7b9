// Opens NCCL, and describes a rank's place in its group to the method.
#include "communicator/with_nccl.h"

#include <cstdio>
#include <memory>

#include <rota/error.h>

#include "collectives/nccl/calls.h"
#include "collectives/nccl/posted_signatures.h"
#include "collectives/nccl/run.h"
#include "collectives/shared/flags_page.h"
#include "communicator/blame.h"
#include "device/calls.h"

namespace rota {
namespace {

// A page has room for both.
static_assert(sizeof(collectives::FlagsPage) + collectives::nccl::PostedSignatures::kBytes <=
              sizeof(transport::SharedPage));

}  // namespace

bool asks_for_nccl(const CommunicatorOptions& options) { return options.plan == "nccl"; }

std::string nccl_of_this_rank() {
  if (!device::calls_in_use()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the plan nccl is for values on devices, but this program has no library for "
                "devices: no table was given to rota::cuda::use()");
  }
  return collectives::nccl::name_of(collectives::nccl::open());
}

nccl::Id make_nccl_id() { return collectives::nccl::make_id(collectives::nccl::open()); }

std::optional<nccl::Id> nccl_id_of_one() {
  try {
    nccl_of_this_rank();
    return make_nccl_id();  // Fails without a network.
  } catch (const Error&) {
    return std::nullopt;
  }
}

void add_nccl(Group& group, const nccl::Id& id, const CommunicatorOptions& options) {
  const nccl::Calls& calls = collectives::nccl::open();
  group.methods.push_back(std::make_unique<collectives::nccl::NcclCollectives>(
      calls,
      collectives::nccl::CommSetup{.id = id,
                                   .rank = group.rank,
                                   .world_size = group.world_size(),
                                   .who = name_of(group.rank, group.table),
                                   .deadline = group.deadline,
                                   .registers = options.registers_buffers},
      group.transport ? group.transport->shared_memory() : nullptr));
  if (!group.verbose || group.rank != 0) return;
  const std::string line = "rota: the plan nccl uses " + collectives::nccl::name_of(calls) +
                           ", which can do: " + collectives::nccl::abilities_of(calls) + "\n";
  std::fputs(line.c_str(), stderr);
}

}  // namespace rota
