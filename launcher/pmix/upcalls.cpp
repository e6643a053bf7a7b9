// Queues what libpmix asks of the server, for the main thread. All arguments are copied, because
// they are valid only during the call.
#include "launcher/pmix/upcalls.h"

#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace rota::launcher {
namespace {

// The size of the memory from which libpmix reads the module. A newer libpmix has a larger module
// than the headers say, and finds null in the rest: such a request is then refused.
constexpr std::size_t kModuleBytes = 4096;
static_assert(kModuleBytes >= 4 * sizeof(pmix_server_module_t));

pmix_status_t on_connected(const pmix_proc_t* client, void* /*object*/, pmix_info_t* /*infos*/,
                           std::size_t /*count*/, pmix_op_cbfunc_t done, void* context) {
  Upcalls::of_process().push(
      {.message = {.type = PmixMessageType::kConnected, .rank = client->rank},
       .done = done,
       .context = context});
  return PMIX_SUCCESS;
}

// The client waits in MPI_Finalize until `done` is called. So rotarun knows that the rank has
// finalized before the rank can end.
pmix_status_t on_finalized(const pmix_proc_t* client, void* /*object*/, pmix_op_cbfunc_t done,
                           void* context) {
  Upcalls::of_process().push(
      {.message = {.type = PmixMessageType::kFinalized, .rank = client->rank},
       .done = done,
       .context = context});
  return PMIX_SUCCESS;
}

// libpmix keeps ownership of `client` and `text`. Whichever ranks shall end, rotarun ends the job.
pmix_status_t on_abort(const pmix_proc_t* client, void* /*object*/, int code, const char* text,
                       pmix_proc_t* /*ranks*/, std::size_t /*count*/, pmix_op_cbfunc_t done,
                       void* context) {
  Upcalls::of_process().push({.message = {.type = PmixMessageType::kAborted,
                                          .rank = client->rank,
                                          .value = code,
                                          .text = text == nullptr ? "" : text},
                              .done = done,
                              .context = context});
  return PMIX_SUCCESS;
}

// Returns the ranks of a fence, ascending; none for all ranks of the world.
std::vector<std::uint32_t> ranks_of(std::span<const pmix_proc_t> members) {
  std::vector<std::uint32_t> ranks;
  for (const pmix_proc_t& member : members) {
    if (member.rank == PMIX_RANK_WILDCARD) return {};
    ranks.push_back(member.rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.size() == Upcalls::of_process().world_size()) ranks.clear();
  return ranks;
}

// Returns whether each rank of this host has entered the fence. If one has ended instead, libpmix
// completes the fence without it.
bool are_all_in(std::span<const pmix_info_t> infos) {
  return std::ranges::all_of(infos, [](const pmix_info_t& info) {
    return std::strncmp(info.key, PMIX_LOCAL_COLLECTIVE_STATUS, PMIX_MAX_KEYLEN) != 0 ||
           info.value.type != PMIX_STATUS || info.value.data.status == PMIX_SUCCESS;
  });
}

// The fences of one list of ranks have the same order on all hosts, so their number tells them
// apart. `data` is given away by libpmix. A fence that lacks a rank is never answered: an error
// would not end MPI_Init, and rotarun ends the job anyway.
pmix_status_t on_fence(const pmix_proc_t* members, std::size_t member_count,
                       const pmix_info_t* infos, std::size_t info_count, char* data,
                       std::size_t data_bytes, pmix_modex_cbfunc_t answer, void* context) {
  static std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;  // Only for this thread.
  PmixFence fence{.ranks = ranks_of({members, member_count})};
  if (data != nullptr) fence.data.assign(data, data_bytes);
  std::free(data);
  fence.number = numbers[fence.ranks]++;
  if (!are_all_in({infos, info_count})) return PMIX_SUCCESS;
  Upcalls::of_process().push({.message = {.type = PmixMessageType::kFence, .text = encode(fence)},
                              .answer = answer,
                              .context = context});
  return PMIX_SUCCESS;
}

pmix_status_t on_wanted(const pmix_proc_t* owner, const pmix_info_t* /*infos*/,
                        std::size_t /*count*/, pmix_modex_cbfunc_t answer, void* context) {
  Upcalls::of_process().push({.message = {.type = PmixMessageType::kWanted, .rank = owner->rank},
                              .answer = answer,
                              .context = context});
  return PMIX_SUCCESS;
}

// libpmix passes two contexts: `own` is that of its notification, which `done` needs.
void on_lost_connection(std::size_t /*handler*/, pmix_status_t /*status*/,
                        const pmix_proc_t* source, pmix_info_t* /*infos*/, std::size_t /*count*/,
                        pmix_info_t* /*results*/, std::size_t /*result_count*/,
                        pmix_event_notification_cbfunc_fn_t done, void* own) {
  if (source != nullptr) {
    Upcalls::of_process().push({.message = {.type = PmixMessageType::kLost, .rank = source->rank}});
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, own);
}

}  // namespace

Upcalls& Upcalls::of_process() {
  static Upcalls upcalls;
  return upcalls;
}

pmix_server_module_t* Upcalls::module(std::uint32_t world_size) {
  alignas(pmix_server_module_t) static std::byte memory[kModuleBytes]{};
  world_size_ = world_size;
  auto* module = new (memory) pmix_server_module_t{};
  module->client_connected2 = on_connected;
  module->client_finalized = on_finalized;
  module->abort = on_abort;
  module->fence_nb = on_fence;
  module->direct_modex = on_wanted;
  return module;
}

void Upcalls::watch_connections() {
  pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
  PMIx_Register_event_handler(&code, 1, nullptr, 0, on_lost_connection, nullptr, nullptr);
}

std::vector<Upcall> Upcalls::take() {
  wakeup_.clear();
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void Upcalls::push(Upcall upcall) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(upcall));
  wakeup_.wake();
}

}  // namespace rota::launcher
