// Opens NCCL, and fills the table of its functions. If NCCL is missing, too old, or of another
// major version, says so in a sentence.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include <rota/nccl_calls.h>

#include "nccl/functions.h"

// Returns the table for the NCCL in the file `path`. If `path` is null, takes the file that the
// environment variable ROTA_NCCL_FILE names, or else libnccl.so.2 where the dynamic linker finds
// it. Returns null with the reason in `why`, as a clause. The texts are never freed. If it is
// called again with another file, the functions of all tables call that NCCL.
extern "C" ROTA_EXPORT const rota::nccl::Calls* rota_calls_of_nccl(const char* path,
                                                                   const char** why) noexcept;

namespace rota::nccl {
namespace {

// The functions of the NCCL that was opened last.
struct Functions {
  const char* (*ncclGetErrorString)(ncclResult_t) = nullptr;  // NOLINT: NCCL's name.
  const char* (*ncclGetLastError)(ncclComm_t) = nullptr;      // NOLINT
  ncclResult_t (*ncclGetVersion)(int*) = nullptr;             // NOLINT
#define ROTA_MEMBER(name, arguments) ncclResult_t(*name) arguments = nullptr;  // NOLINT
  ROTA_NCCL_FUNCTIONS(ROTA_MEMBER)
  ROTA_NEWER_NCCL_FUNCTIONS(ROTA_MEMBER)
#undef ROTA_MEMBER
};
Functions nccl;

ncclComm_t comm_of(Handle handle) noexcept {
  return reinterpret_cast<ncclComm_t>(handle);  // NOLINT: a handle is a pointer.
}
cudaStream_t stream_of(const Job& job) noexcept {
  return reinterpret_cast<cudaStream_t>(job.stream);  // NOLINT: a handle is a pointer.
}

ncclDataType_t type_of(DataType type) noexcept {
  switch (type) {
    case DataType::kInt8:
      return kInt8;
    case DataType::kByte:
    case DataType::kUint8:
      return kUint8;
    case DataType::kInt32:
      return kInt32;
    case DataType::kInt64:
      return kInt64;
    case DataType::kFloat16:
      return kFloat16;
    case DataType::kFloat64:
      return kFloat64;
    case DataType::kBfloat16:
      return kBfloat16;
    case DataType::kFloat32:
      break;
  }
  return kFloat32;
}

ncclRedOp_t op_of(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::kProduct:
      return kProduct;
    case ReduceOp::kMin:
      return kMin;
    case ReduceOp::kMax:
      return kMax;
    default:
      return kSum;
  }
}

void describe(int error, Handle comm, char* text, std::size_t bytes) noexcept {
  const char* last = nccl.ncclGetLastError ? nccl.ncclGetLastError(comm_of(comm)) : nullptr;
  const bool has_more = last && *last != '\0';
  std::snprintf(text, bytes, "%s%s%s", nccl.ncclGetErrorString(error), has_more ? ": " : "",
                has_more ? last : "");
  // NCCL ends its sentences with a line break.
  for (std::size_t end = std::strlen(text); end > 0 && text[end - 1] == '\n'; --end) {
    text[end - 1] = '\0';
  }
}

int make_id(Id& id) noexcept {
  ncclUniqueId own{};
  static_assert(sizeof own == sizeof id);
  const int error = nccl.ncclGetUniqueId(&own);
  std::memcpy(id.data(), &own, sizeof own);
  return error;
}

int create(const Id& id, std::size_t rank, std::size_t world_size, Handle& comm) noexcept {
  ncclUniqueId own{};
  std::memcpy(&own, id.data(), sizeof own);
  Config config;
  config.blocking = 0;
  ncclComm_t made = nullptr;
  const int error = nccl.ncclCommInitRankConfig(&made, static_cast<int>(world_size), own,
                                                static_cast<int>(rank), &config);
  comm = reinterpret_cast<Handle>(made);
  return error;
}

int all_reduce(const Job& job, ReduceOp op) noexcept {
  return nccl.ncclAllReduce(job.input, job.output, job.count, type_of(job.type), op_of(op),
                            comm_of(job.comm), stream_of(job));
}

int reduce(const Job& job, ReduceOp op, std::size_t root) noexcept {
  return nccl.ncclReduce(job.input, job.output, job.count, type_of(job.type), op_of(op),
                         static_cast<int>(root), comm_of(job.comm), stream_of(job));
}

int reduce_scatter(const Job& job, ReduceOp op) noexcept {
  return nccl.ncclReduceScatter(job.input, job.output, job.count, type_of(job.type), op_of(op),
                                comm_of(job.comm), stream_of(job));
}

int all_gather(const Job& job) noexcept {
  return nccl.ncclAllGather(job.input, job.output, job.count, type_of(job.type), comm_of(job.comm),
                            stream_of(job));
}

int broadcast(const Job& job, std::size_t root) noexcept {
  return nccl.ncclBroadcast(job.input, job.output, job.count, type_of(job.type),
                            static_cast<int>(root), comm_of(job.comm), stream_of(job));
}

int send(const Job& job, std::size_t to) noexcept {
  return nccl.ncclSend(job.input, job.count, type_of(job.type), static_cast<int>(to),
                       comm_of(job.comm), stream_of(job));
}

int receive(const Job& job, std::size_t from) noexcept {
  return nccl.ncclRecv(job.output, job.count, type_of(job.type), static_cast<int>(from),
                       comm_of(job.comm), stream_of(job));
}

int register_memory(Handle comm, void* base, std::size_t bytes, Handle& registration) noexcept {
  void* made = nullptr;
  const int error = nccl.ncclCommRegister(comm_of(comm), base, bytes, &made);
  registration = reinterpret_cast<Handle>(made);
  return error;
}

int deregister_memory(Handle comm, Handle registration) noexcept {
  void* const made = reinterpret_cast<void*>(registration);  // NOLINT: a handle is a pointer.
  return nccl.ncclCommDeregister(comm_of(comm), made);
}

Calls table_for(int version, bool splits, bool shrinks) {
  Calls calls;
  calls.nccl_version = version;
  calls.describe = describe;
  calls.make_id = make_id;
  calls.create = create;
  calls.get_state = [](Handle comm, int& state) noexcept {
    return nccl.ncclCommGetAsyncError(comm_of(comm), &state);
  };
  calls.finalize = [](Handle comm) noexcept { return nccl.ncclCommFinalize(comm_of(comm)); };
  calls.destroy = [](Handle comm) noexcept { return nccl.ncclCommDestroy(comm_of(comm)); };
  calls.abort = [](Handle comm) noexcept { return nccl.ncclCommAbort(comm_of(comm)); };
  calls.all_reduce = all_reduce;
  calls.reduce = reduce;
  calls.reduce_scatter = reduce_scatter;
  calls.all_gather = all_gather;
  calls.broadcast = broadcast;
  calls.send = send;
  calls.receive = receive;
  calls.begin_group = []() noexcept { return nccl.ncclGroupStart(); };
  calls.end_group = []() noexcept { return nccl.ncclGroupEnd(); };
  if (nccl.ncclCommRevoke) {
    calls.revoke = [](Handle comm) noexcept { return nccl.ncclCommRevoke(comm_of(comm), 0); };
  }
  if (nccl.ncclCommRegister && nccl.ncclCommDeregister) {
    calls.register_memory = register_memory;
    calls.deregister_memory = deregister_memory;
  }
  calls.splits = splits;
  calls.shrinks = shrinks;
  calls.shares_devices = version >= 23000;
  return calls;
}

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

std::string name_of_version(int version) {
  if (version < 10000) return "before 2.9";
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// Finds the functions. Returns what is wrong with this NCCL, as a clause, or an empty string.
std::string why_not(void* library, const std::string& path, int& version) {
  Functions found;
  if (!find(library, "ncclGetVersion", found.ncclGetVersion) ||
      found.ncclGetVersion(&version) != 0) {
    return path + " is no NCCL: it does not tell its version";
  }
  if (version / 10000 > 2) {
    return path + " is NCCL " + name_of_version(version) + ", but rota works with NCCL 2";
  }
  if (version < kOldest) {
    return path + " is NCCL " + name_of_version(version) + ", but rota needs NCCL " +
           name_of_version(kOldest) + " or newer";
  }
  std::string missing;
  if (!find(library, "ncclGetErrorString", found.ncclGetErrorString))
    missing = "ncclGetErrorString";
  find(library, "ncclGetLastError", found.ncclGetLastError);
#define ROTA_FIND(name, arguments) \
  if (!find(library, #name, found.name)) missing = #name;
  ROTA_NCCL_FUNCTIONS(ROTA_FIND)
#undef ROTA_FIND
  if (!missing.empty()) {
    return path + " is NCCL " + name_of_version(version) + ", but it lacks " + missing;
  }
#define ROTA_FIND_NEWER(name, arguments) find(library, #name, found.name);
  ROTA_NEWER_NCCL_FUNCTIONS(ROTA_FIND_NEWER)
#undef ROTA_FIND_NEWER
  nccl = found;
  return {};
}

// Keeps an object until the process ends.
template <class T>
const T& kept(T object) {
  static auto* const kAll = new std::deque<T>;
  return kAll->emplace_back(std::move(object));
}

}  // namespace

const Calls* open_nccl(const char* path, const char** why) {
  const char* named = std::getenv("ROTA_NCCL_FILE");
  const std::string file = path ? path : named && *named != '\0' ? named : "libnccl.so.2";
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // Never closed: it has threads.
  if (!library) {
    const char* reason = ::dlerror();
    *why = kept("NCCL cannot be opened: " + std::string(reason ? reason : file) +
                ": install NCCL, or name its file in ROTA_NCCL_FILE")
               .c_str();
    return nullptr;
  }
  int version = 0;
  if (const std::string reason = why_not(library, file, version); !reason.empty()) {
    *why = kept(reason).c_str();
    return nullptr;
  }
  return &kept(table_for(version, ::dlsym(library, "ncclCommSplit") != nullptr,
                         ::dlsym(library, "ncclCommShrink") != nullptr));
}

}  // namespace rota::nccl

const rota::nccl::Calls* rota_calls_of_nccl(const char* path, const char** why) noexcept {
  return rota::nccl::open_nccl(path, why);
}
