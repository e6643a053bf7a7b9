// Fills the table of MPI functions. This file is compiled once against each MPI that is installed.
// Against another MPI, compile it yourself: it needs only mpi.h and rota's public headers.
#define OMPI_SKIP_MPICXX 1  // Skips the C++ bindings, which MPI itself has removed.
#define MPICH_SKIP_MPICXX 1
#include <rota/mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

namespace rota::mpi {
namespace {

// Returns the object whose number handle_of() has returned.
template <class Object>
Object object_of(Handle handle) noexcept {
  Object object;
  std::memcpy(&object, &handle, sizeof object);  // NOLINT: an Object may be a pointer.
  return object;
}

MPI_Comm comm_of(Handle handle) noexcept { return object_of<MPI_Comm>(handle); }

// A request that has ended is 0, whatever the number of MPI_REQUEST_NULL is.
void store(MPI_Request own, Handle& request) noexcept {
  request = own == MPI_REQUEST_NULL ? 0 : handle_of(own);
}

// Calls `begin` with a request, and stores the request in `handle`.
template <class Begin>
int begun(Handle& handle, Begin begin) noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = begin(&request);
  store(error == MPI_SUCCESS ? request : MPI_REQUEST_NULL, handle);
  return error;
}

MPI_Datatype type_of(DataType type) noexcept {
  switch (type) {
    case DataType::kByte:
      return MPI_BYTE;
    case DataType::kFloat32:
      return MPI_FLOAT;
    case DataType::kFloat64:
      return MPI_DOUBLE;
    case DataType::kInt8:
      return MPI_INT8_T;
    case DataType::kUint8:
      return MPI_UINT8_T;
    case DataType::kInt32:
      return MPI_INT32_T;
    case DataType::kInt64:
      return MPI_INT64_T;
    case DataType::kFloat16:
    case DataType::kBfloat16:
      break;
  }
  return MPI_DATATYPE_NULL;
}

MPI_Op op_of(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::kSum:
      return MPI_SUM;
    case ReduceOp::kProduct:
      return MPI_PROD;
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kMax:
      return MPI_MAX;
    case ReduceOp::kBitAnd:
      return MPI_BAND;
    case ReduceOp::kBitOr:
      return MPI_BOR;
    case ReduceOp::kBitXor:
      return MPI_BXOR;
    case ReduceOp::kMean:
      break;
  }
  return MPI_OP_NULL;
}

bool is_initialized() noexcept {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

// What this process knows of MPI_Finalize. The flag publishes nothing else, so its order is
// relaxed.
enum class Ending : unsigned char { kNotWatched, kWatched, kBegun };
std::atomic<Ending> ending{Ending::kNotWatched};

int note_end(MPI_Comm, int, void*, void*) {
  ending.store(Ending::kBegun, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

// MPI_Finalize begins with the deletion of the attributes of MPI_COMM_SELF. Other threads may be in
// calls of rota then. MPI_Finalized would tell them of the end only later.
void watch_for_end() noexcept {
  static std::atomic_flag has_tried;
  if (has_tried.test_and_set(std::memory_order_relaxed)) return;
  int key = MPI_KEYVAL_INVALID;
  if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_end, &key, nullptr) != MPI_SUCCESS) return;
  const int error = MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);  // MPI keeps it until the attribute is deleted.
  if (error == MPI_SUCCESS) ending.store(Ending::kWatched, std::memory_order_relaxed);
}

bool is_finalized() noexcept {
  const Ending known = ending.load(std::memory_order_relaxed);
  if (known != Ending::kNotWatched) return known == Ending::kBegun;
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

void describe(int error, char* text, std::size_t bytes) noexcept {
  std::array<char, MPI_MAX_ERROR_STRING> own{};
  int length = 0;
  if (is_finalized() || MPI_Error_string(error, own.data(), &length) != MPI_SUCCESS) {
    std::snprintf(own.data(), own.size(), "error %d", error);
  }
  std::snprintf(text, bytes, "%s", own.data());
}

ThreadLevel thread_level() noexcept {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) return ThreadLevel::kMultiple;
  if (level == MPI_THREAD_SERIALIZED) return ThreadLevel::kSerialized;
  return level == MPI_THREAD_FUNNELED ? ThreadLevel::kFunneled : ThreadLevel::kSingle;
}

bool is_main_thread() noexcept {
  int flag = 0;
  MPI_Is_thread_main(&flag);
  return flag != 0;
}

int initialize() noexcept {
  int level = MPI_THREAD_SINGLE;
  return MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
}

// By default, MPI ends a program that calls MPI_Comm_rank with MPI_COMM_NULL.
int place(Handle comm, int& rank, int& world_size) noexcept {
  if (comm_of(comm) == MPI_COMM_NULL) return MPI_ERR_COMM;
  int is_inter = 0;
  int error = MPI_Comm_test_inter(comm_of(comm), &is_inter);
  if (error == MPI_SUCCESS && is_inter != 0) error = MPI_ERR_COMM;
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(comm_of(comm), &rank);
  return error != MPI_SUCCESS ? error : MPI_Comm_size(comm_of(comm), &world_size);
}

// Only MPI_COMM_WORLD is sure to have the attribute: in Open MPI, communicators that are split off
// have none.
int largest_tag(int& tag) noexcept {
  int* value = nullptr;
  int is_set = 0;
  const int error = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_set);
  constexpr int kPromised = 32767;
  tag = error == MPI_SUCCESS && is_set != 0 ? *value : kPromised;
  return error;
}

// MPI writes the communicator into the first bytes of the number, where object_of() finds it.
int duplicate(Handle comm, Handle& made, Handle& request) noexcept {
  watch_for_end();
  made = 0;
  return begun(request, [&](MPI_Request* own) {
    return MPI_Comm_idup(comm_of(comm), reinterpret_cast<MPI_Comm*>(&made), own);
  });
}

int return_errors(Handle comm) noexcept {
  return MPI_Comm_set_errhandler(comm_of(comm), MPI_ERRORS_RETURN);
}

int free_comm(Handle comm) noexcept {
  MPI_Comm own = comm_of(comm);
  return MPI_Comm_free(&own);
}

int send(const void* data, int bytes, int peer, int tag, Handle comm, Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) {
    return MPI_Isend(data, bytes, MPI_BYTE, peer, tag, comm_of(comm), own);
  });
}

int receive(void* data, int bytes, int peer, int tag, Handle comm, Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) {
    return MPI_Irecv(data, bytes, MPI_BYTE, peer, tag, comm_of(comm), own);
  });
}

int test(Handle& request, bool& is_done) noexcept {
  is_done = request == 0;
  if (is_done) return MPI_SUCCESS;
  auto own = object_of<MPI_Request>(request);
  int flag = 0;
  const int error = MPI_Test(&own, &flag, MPI_STATUS_IGNORE);
  store(own, request);
  is_done = flag != 0;
  return error;
}

// MPI ends the program that cancels MPI_REQUEST_NULL.
int cancel(Handle& request) noexcept {
  if (request == 0) return MPI_SUCCESS;
  auto own = object_of<MPI_Request>(request);
  return MPI_Cancel(&own);
}

int barrier(Handle comm, Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) { return MPI_Ibarrier(comm_of(comm), own); });
}

int broadcast(void* values, int count, DataType type, int root, Handle comm,
              Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) {
    return MPI_Ibcast(values, count, type_of(type), root, comm_of(comm), own);
  });
}

int all_reduce(const void* input, void* values, int count, DataType type, ReduceOp op, Handle comm,
               Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) {
    return MPI_Iallreduce(input ? input : MPI_IN_PLACE, values, count, type_of(type), op_of(op),
                          comm_of(comm), own);
  });
}

int reduce(const void* input, void* values, int count, DataType type, ReduceOp op, int root,
           Handle comm, Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) {
    return MPI_Ireduce(input ? input : MPI_IN_PLACE, values, count, type_of(type), op_of(op), root,
                       comm_of(comm), own);
  });
}

int all_gather(const void* input, void* values, int part_count, DataType type, Handle comm,
               Handle& request) noexcept {
  return begun(request, [&](MPI_Request* own) {
    return MPI_Iallgather(input ? input : MPI_IN_PLACE, part_count, type_of(type), values,
                          part_count, type_of(type), comm_of(comm), own);
  });
}

constexpr Calls kCalls {
#if defined(OPEN_MPI)
  .name = "Open MPI",
#elif defined(MPICH_VERSION)
  .name = "MPICH",
#else
  .name = "MPI",
#endif
  .is_initialized = is_initialized, .is_finalized = is_finalized, .describe = describe,
  .thread_level = thread_level, .is_main_thread = is_main_thread, .initialize = initialize,
  .finalize = []() noexcept { return MPI_Finalize(); },
  .world = []() noexcept { return handle_of(MPI_COMM_WORLD); }, .place = place,
  .largest_tag = largest_tag, .duplicate = duplicate, .return_errors = return_errors,
  .free = free_comm, .send = send, .receive = receive, .test = test, .cancel = cancel,
  .barrier = barrier, .broadcast = broadcast, .all_reduce = all_reduce, .reduce = reduce,
  .all_gather = all_gather
};

}  // namespace
}  // namespace rota::mpi

const rota::mpi::Calls* ROTA_MPI_CALLS() noexcept { return &rota::mpi::kCalls; }
