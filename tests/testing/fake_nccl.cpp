// NCCL's functions over memory that the ranks share. The library of each version exports only the
// functions that the version has.
#include "testing/fake_nccl.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "nccl/functions.h"
#include "testing/fake_nccl_operation.h"
#include "testing/fake_nccl_room.h"

#define FAKE_NCCL extern "C" __attribute__((visibility("default")))

extern "C" const int fake_nccl_version;  // In a file of each library.

namespace rota::testing {
namespace {

using Comm = nccl::ncclComm;
using Operation = NcclOperation;
using Part = NcclPart;
using nccl::ncclComm_t;
using nccl::ncclResult_t;
using nccl::ncclUniqueId;

constexpr int kCudaError = 1;
constexpr int kInternalError = 3;
constexpr int kInvalidArgument = 4;
constexpr int kInvalidUsage = 5;
constexpr int kRemoteError = 6;
constexpr int kInProgress = 7;

NcclManner manner_of_environment() {
  NcclManner manner;
  const char* text = std::getenv("FAKE_NCCL");
  const auto number = [&](const char* name, long otherwise) {
    const char* found = text ? std::strstr(text, name) : nullptr;
    return found ? std::atol(found + std::strlen(name)) : otherwise;
  };
  manner.version = static_cast<int>(number("version=", 0));
  manner.stuck_at = static_cast<std::uint64_t>(number("stuck_at=", 0));
  manner.fails_on = static_cast<int>(number("fails_on=", -1));
  manner.fails_at = static_cast<std::uint64_t>(number("fails_at=", 0));
  manner.fails_with = static_cast<int>(number("fails_with=", 0));
  manner.hears_of_ends = number("hears_of_ends=", 0) != 0;
  manner.abort_hangs = number("abort_hangs=", 0) != 0;
  manner.destroy_hangs = number("destroy_hangs=", 0) != 0;
  return manner;
}

const NcclManner& manner() { return inside().manner; }

thread_local std::string last_error;

int fail(int error, const std::string& text) {
  last_error = text + "\n";
  return error;
}

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

std::mutex comms_mutex;
std::vector<std::shared_ptr<Comm>> comms;

std::shared_ptr<Comm> shared(ncclComm_t comm) {
  const std::scoped_lock lock(comms_mutex);
  for (const auto& each : comms) {
    if (each.get() == comm) return each;
  }
  return nullptr;
}

void forget(ncclComm_t comm) {
  const std::scoped_lock lock(comms_mutex);
  std::erase_if(comms, [comm](const auto& each) { return each.get() == comm; });
}

// Returns the error of a call that NCCL does not allow now.
int crime(const std::string& text) {
  ++inside().counts.crimes;
  return fail(kInvalidUsage, text);
}

int begin_call(Comm& comm) {
  if (comm.busy.load() > 0 || !comm.is_created.load()) return crime("the communicator is busy");
  if (comm.is_finalized) return crime("the communicator was finalized");
  return 0;
}

bool has_failed(const Comm& comm) {
  return comm.rank == manner().fails_on && manner().fails_with != 0 &&
         comm.operations >= manner().fails_at;
}

bool has_lost_a_rank(const Comm& comm) {
  if (!manner().hears_of_ends) return false;
  for (int rank = 0; rank < comm.world_size; ++rank) {
    const pid_t pid = comm.room.slot(rank).pid.load();
    if (pid != 0 && kill(pid, 0) != 0) return true;
  }
  return false;
}

// The calls of this thread between ncclGroupStart and ncclGroupEnd.
struct OpenGroup {
  int depth = 0;
  ncclComm_t comm = nullptr;
  void* stream = nullptr;
  std::vector<Part> parts;
};
thread_local OpenGroup open_group;

// Finds out whether all buffers are in registered memory. Returns the error of memory that was
// freed, or freed and allocated again, while it was registered.
int look_at_buffers(Operation& operation) {
  bool all = true;
  bool is_freed = false;
  operation.for_each_buffer([&](const void* address, std::size_t bytes) {
    bool is_inside = false;
    for (const auto& each : operation.comm->registered) {
      is_inside |= each->has(address, bytes);
      const bool is_there = inside().device->number_at(each->base) == each->number;
      is_freed |= each->meets(address, bytes) && !is_there;
    }
    all &= is_inside;
  });
  operation.is_registered = all;
  if (all) ++inside().counts.zero_copy;
  return is_freed ? crime("a buffer was freed while it was registered") : 0;
}

int begin_operation(ncclComm_t handle, void* stream, std::vector<Part> parts) {
  const auto comm = shared(handle);
  if (!comm) return crime("there is no such communicator");
  if (const int error = begin_call(*comm)) return error;
  std::size_t bytes = 0;
  auto operation = std::make_shared<Operation>(
      Operation{.comm = comm, .number = comm->operations + 1, .parts = std::move(parts)});
  for (const Part& part : operation->parts) bytes += operation->shown_bytes(part.facts);
  if (operation->parts.size() > Room::kMostParts || bytes > Room::kMostBytes) {
    return fail(kInternalError, "the fake NCCL has no room for so much");
  }
  if (const int error = look_at_buffers(*operation)) return error;
  ++comm->operations;
  ++inside().counts.operations;
  const auto where = reinterpret_cast<std::uintptr_t>(stream);
  const DeviceForNccl& device = *inside().device;
  const auto add = [operation, where, &device] {
    const int first = device.add_work(
        where, [operation] { return operation->may_show(); }, [operation] { operation->show(); });
    const int second = device.add_work(
        where, [operation] { return operation->may_take(); }, [operation] { operation->take(); });
    return first != 0 || second != 0 ? fail(kCudaError, "the stream takes no work") : 0;
  };
  comm->busy = manner().busy_polls;
  if (comm->busy == 0) return add();
  comm->add_late = add;
  return kInProgress;
}

int add_part(ncclComm_t comm, void* stream, const Part& part) {
  if (open_group.depth == 0) return begin_operation(comm, stream, {part});
  open_group.comm = comm;
  open_group.stream = stream;
  open_group.parts.push_back(part);
  return 0;
}

int create(ncclComm_t* made, int world_size, const ncclUniqueId& id, int rank) {
  if (manner().create_fails_with != 0) {
    return fail(manner().create_fails_with, "the fake NCCL was told to fail");
  }
  if (!inside().device) return fail(kCudaError, "there is no device");
  auto comm = std::make_shared<Comm>();
  if (!comm->room.enter(id.internal)) return fail(kRemoteError, "the first rank is gone");
  comm->rank = rank;
  comm->world_size = world_size;
  comm->busy = manner().busy_polls;
  Room::Slot& slot = comm->room.slot(rank);
  slot.device = inside().device->current_device();
  slot.pid = getpid();
  *made = comm.get();
  const std::scoped_lock lock(comms_mutex);
  comms.push_back(std::move(comm));
  ++inside().counts.created;
  return kInProgress;
}

// Returns whether all ranks are there, and sets `error` if they may not work together.
bool is_complete(const Comm& comm, int& error) {
  for (int rank = 0; rank < comm.world_size; ++rank) {
    if (comm.room.slot(rank).pid.load() == 0) return false;
    for (int other = 0; manner().refuses_shared_devices && other < rank; ++other) {
      if (comm.room.slot(rank).device == comm.room.slot(other).device) {
        error = fail(kInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(other) +
                                        " and rank " + std::to_string(rank));
      }
    }
  }
  return true;
}

int state_of(Comm& comm) {
  if (has_failed(comm)) return fail(manner().fails_with, "an error that comes late");
  if (has_lost_a_rank(comm)) return fail(kRemoteError, "a rank is gone");
  int error = 0;
  if (!comm.is_created && !is_complete(comm, error)) return kInProgress;
  if (error != 0) return error;
  comm.is_created = true;
  if (comm.is_finalized && manner().finalize_hangs) return kInProgress;
  if (comm.busy.load() == 0) return comm.failed_with;
  if (--comm.busy == 0 && comm.add_late) comm.failed_with = std::exchange(comm.add_late, {})();
  return kInProgress;
}

int end(ncclComm_t handle, bool hangs, std::atomic<int>& count) {
  const auto comm = shared(handle);
  if (!comm) return crime("there is no such communicator");
  ++count;
  if (hangs) hang();
  if (&count == &inside().counts.destroyed && !comm->registered.empty()) {
    crime("memory is still registered");
  }
  comm->is_ended = true;
  comm->add_late = {};  // It keeps an operation, which keeps the communicator.
  forget(handle);
  return 0;
}

Part part_of(PartFacts::Kind kind, const void* input, void* output, std::size_t count, int type,
             int op, int peer) {
  return {.facts = {.kind = kind, .type = type, .op = op, .peer = peer, .count = count},
          .input = input,
          .output = output};
}

}  // namespace
}  // namespace rota::testing

rota::testing::NcclInside& rota::testing::inside() {
  static NcclInside own{.device = nullptr, .manner = manner_of_environment(), .counts = {}};
  return own;
}

using namespace rota::testing;  // NOLINT: what follows are C functions.
using rota::nccl::Config;
using rota::nccl::ncclComm_t;
using rota::nccl::ncclResult_t;
using rota::nccl::ncclUniqueId;
using Kind = PartFacts::Kind;

FAKE_NCCL NcclInside* inside_of_fake_nccl() { return &inside(); }

FAKE_NCCL const char* ncclGetErrorString(ncclResult_t error) {
  constexpr const char* kTexts[] = {"no error",
                                    "unhandled cuda error",
                                    "unhandled system error",
                                    "internal error",
                                    "invalid argument",
                                    "invalid usage",
                                    "remote process exited or there was a network error",
                                    "NCCL operation in progress"};
  return error >= 0 && error < 8 ? kTexts[error] : "unknown result code";
}

FAKE_NCCL const char* ncclGetLastError(ncclComm_t) { return last_error.c_str(); }

FAKE_NCCL ncclResult_t ncclGetVersion(int* version) {
  *version = manner().version != 0 ? manner().version : fake_nccl_version;
  return 0;
}

FAKE_NCCL ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return Room::make(id->internal, sizeof id->internal) ? 0 : fail(2, "there is no memory to share");
}

FAKE_NCCL ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int world_size, ncclUniqueId id,
                                              int rank, Config* config) {
  if (config->magic != 0xcafebeef || config->blocking != 0 || config->size < sizeof(Config)) {
    return fail(kInvalidArgument, "the fake NCCL is non-blocking only");
  }
  return create(comm, world_size, id, rank);
}

FAKE_NCCL ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  const auto own = shared(comm);
  if (!own) return crime("there is no such communicator");
  *state = state_of(*own);
  return 0;
}

FAKE_NCCL ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const auto own = shared(comm);
  if (!own) return crime("there is no such communicator");
  if (const int error = begin_call(*own)) return error;
  own->is_finalized = true;
  own->busy = manner().busy_polls;
  return kInProgress;
}

FAKE_NCCL ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return end(comm, manner().destroy_hangs, inside().counts.destroyed);
}

FAKE_NCCL ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return end(comm, manner().abort_hangs, inside().counts.aborted);
}

FAKE_NCCL ncclResult_t ncclAllReduce(const void* input, void* output, std::size_t count, int type,
                                     int op, ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kAllReduce, input, output, count, type, op, 0));
}

FAKE_NCCL ncclResult_t ncclReduce(const void* input, void* output, std::size_t count, int type,
                                  int op, int root, ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kReduce, input, output, count, type, op, root));
}

FAKE_NCCL ncclResult_t ncclReduceScatter(const void* input, void* output, std::size_t count,
                                         int type, int op, ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kReduceScatter, input, output, count, type, op, 0));
}

FAKE_NCCL ncclResult_t ncclAllGather(const void* input, void* output, std::size_t count, int type,
                                     ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kAllGather, input, output, count, type, 0, 0));
}

FAKE_NCCL ncclResult_t ncclBroadcast(const void* input, void* output, std::size_t count, int type,
                                     int root, ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kBroadcast, input, output, count, type, 0, root));
}

FAKE_NCCL ncclResult_t ncclSend(const void* input, std::size_t count, int type, int peer,
                                ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kSend, input, nullptr, count, type, 0, peer));
}

FAKE_NCCL ncclResult_t ncclRecv(void* output, std::size_t count, int type, int peer,
                                ncclComm_t comm, void* stream) {
  return add_part(comm, stream, part_of(Kind::kReceive, nullptr, output, count, type, 0, peer));
}

FAKE_NCCL ncclResult_t ncclGroupStart() {
  ++open_group.depth;
  return 0;
}

FAKE_NCCL ncclResult_t ncclGroupEnd() {
  if (--open_group.depth > 0 || open_group.parts.empty()) return 0;
  ++inside().counts.groups;
  return begin_operation(open_group.comm, open_group.stream, std::exchange(open_group.parts, {}));
}

// rota asks only whether the next two are there.
FAKE_NCCL ncclResult_t ncclCommSplit() { return crime("rota does not call it"); }
FAKE_NCCL ncclResult_t ncclCommShrink() { return crime("rota does not call it"); }

FAKE_NCCL ncclResult_t ncclCommRegister(ncclComm_t comm, void* base, std::size_t bytes,
                                        void** handle) {
  const auto own = shared(comm);
  if (!own) return crime("there is no such communicator");
  if (const int error = begin_call(*own)) return error;
  if (manner().register_fails_with != 0) {
    return fail(manner().register_fails_with, "the fake NCCL was told to fail");
  }
  ++inside().counts.registered;
  *handle = nullptr;
  if (manner().declines_memory) return 0;
  const std::uint64_t number = inside().device->number_at(base);
  if (number == 0) return crime("there is no such memory");
  own->registered.push_back(std::make_unique<NcclRegistration>(
      NcclRegistration{static_cast<std::byte*>(base), bytes, number}));
  *handle = own->registered.back().get();
  return 0;
}

FAKE_NCCL ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle) {
  const auto own = shared(comm);
  if (!own) return crime("there is no such communicator");
  if (const int error = begin_call(*own)) return error;
  for (auto each = own->registered.begin(); each != own->registered.end(); ++each) {
    if (each->get() != handle) continue;
    ++inside().counts.deregistered;
    const bool is_there = inside().device->number_at((*each)->base) == (*each)->number;
    own->registered.erase(each);
    return is_there ? 0 : crime("memory was freed before it was deregistered");
  }
  return crime("the memory is not registered");
}

FAKE_NCCL ncclResult_t ncclCommRevoke(ncclComm_t comm, int) {
  const auto own = shared(comm);
  if (!own) return crime("there is no such communicator");
  ++inside().counts.revoked;
  if (manner().abort_hangs) return 0;
  own->is_ended = true;
  own->busy = manner().busy_polls;
  return kInProgress;
}
