// One lock guards all mail of a job. A request ends in the test() of the rank that owns it.
#include "testing/fake_mpi.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rota::testing {
namespace {

using mpi::Calls;
using mpi::Handle;
using Job = FakeMpi::Job;

constexpr int kFailed = 1;
constexpr int kTruncated = 15;
constexpr int kEagerBytes = 4096;

std::atomic<bool> is_initialized{true};
std::atomic<bool> is_finalized{false};
std::atomic<mpi::ThreadLevel> thread_level{mpi::ThreadLevel::kMultiple};
std::atomic<int> largest_tag{32767};
thread_local bool is_main = false;

struct Comm {
  Job* job = nullptr;
  std::size_t context = 0;
  std::size_t rank = 0;
  std::size_t meetings = 0;  // Collectives that this rank has begun.
};

struct Request;

struct Mail {
  std::tuple<std::size_t, int, int, int> key;  // Context, from, to, tag.
  std::vector<std::byte> copy;                 // Of an eager message.
  const std::byte* data = nullptr;
  int bytes = 0;
  Request* sender = nullptr;  // Waits until the receiver has read the message.
};

// A collective on all ranks of a communicator.
struct Meeting {
  std::tuple<int, int, int, int, int> call{};  // What, count, type, operation, root.
  std::vector<std::vector<std::byte>> given;   // Index = rank.
  std::size_t arrived = 0;
  std::size_t left = 0;
  bool differs = false;  // Then it never ends, as in a real MPI.
};

struct Request {
  Job* job = nullptr;
  bool is_done = false;
  bool is_receive = false;
  int delay = 0;
  // Of a receive:
  std::tuple<std::size_t, int, int, int> key{};
  std::byte* into = nullptr;
  int room = 0;
  Mail* mail = nullptr;  // The message that it has got.
  // Of a collective:
  std::pair<std::size_t, std::size_t> meeting{};  // Context, number.
  std::function<void(const Meeting&)> finish{};
};

enum What : int { kDuplicate, kBarrier, kBroadcast, kAllReduce, kReduce, kAllGather };

// In place of a root. In a real MPI, all ranks must work in place, or none.
constexpr int kOnAll = -1;
constexpr int kOnAllInPlace = -2;

}  // namespace

struct FakeMpi::Job {
  std::mutex mutex;
  std::size_t world_size = 1;
  std::mt19937_64 random;
  std::vector<Comm> world;
  std::list<Comm> duplicates;
  std::list<Mail> mail;  // That no receive has got, or that its receiver has not read.
  std::deque<Mail*> unexpected;
  std::deque<Request*> posted;
  std::list<Request> requests;
  std::map<std::pair<std::size_t, std::size_t>, Meeting> meetings;
  bool fails = false;
  bool holds = false;

  Request& add_request() {
    Request& request = requests.emplace_back();
    request.job = this;
    request.delay = static_cast<int>(random() % 3);
    return request;
  }
  void forget(const Request& request) {
    requests.remove_if([&](const Request& each) { return &each == &request; });
  }
};

namespace {

Comm& comm_of(Handle handle) { return *reinterpret_cast<Comm*>(handle); }
Request& request_of(Handle handle) { return *reinterpret_cast<Request*>(handle); }
template <class T>
Handle handle_of(T& object) {
  return reinterpret_cast<Handle>(&object);
}

std::size_t bytes_for(int count, DataType type) {
  return static_cast<std::size_t>(count) * bytes_of(type);
}

int send(const void* data, int bytes, int peer, int tag, Handle handle, Handle& request) noexcept {
  const Comm& comm = comm_of(handle);
  Job& job = *comm.job;
  const std::scoped_lock lock(job.mutex);
  request = 0;
  if (job.fails) return kFailed;
  Mail& mail = job.mail.emplace_back();
  mail.key = {comm.context, static_cast<int>(comm.rank), peer, tag};
  mail.data = static_cast<const std::byte*>(data);
  mail.bytes = bytes;
  Request& own = job.add_request();
  if (bytes <= kEagerBytes) {
    mail.copy.assign(mail.data, mail.data + bytes);
    mail.data = mail.copy.data();
    own.is_done = true;
  } else {
    mail.sender = &own;
  }
  request = handle_of(own);
  const auto receive = std::ranges::find(job.posted, mail.key, &Request::key);
  if (receive == job.posted.end()) {
    job.unexpected.push_back(&mail);
  } else {
    (*receive)->mail = &mail;
    job.posted.erase(receive);
  }
  return 0;
}

int receive(void* data, int bytes, int peer, int tag, Handle handle, Handle& request) noexcept {
  const Comm& comm = comm_of(handle);
  Job& job = *comm.job;
  const std::scoped_lock lock(job.mutex);
  request = 0;
  if (job.fails) return kFailed;
  Request& own = job.add_request();
  own.is_receive = true;
  own.key = {comm.context, peer, static_cast<int>(comm.rank), tag};
  own.into = static_cast<std::byte*>(data);
  own.room = bytes;
  request = handle_of(own);
  const auto mail = std::ranges::find(job.unexpected, own.key, &Mail::key);
  if (mail == job.unexpected.end()) {
    job.posted.push_back(&own);
  } else {
    own.mail = *mail;
    job.unexpected.erase(mail);
  }
  return 0;
}

// Reads the message of a receive that has got one.
int read_mail(Job& job, Request& own) {
  Mail& mail = *own.mail;
  if (mail.bytes > own.room) return kTruncated;
  std::copy_n(mail.data, mail.bytes, own.into);
  if (mail.sender) mail.sender->is_done = true;
  job.mail.remove_if([&](const Mail& each) { return &each == &mail; });
  own.is_done = true;
  return 0;
}

void look_at_meeting(Job& job, Request& own) {
  Meeting& meeting = job.meetings[own.meeting];
  if (meeting.arrived < job.world_size || meeting.differs) return;
  own.finish(meeting);
  own.is_done = true;
  if (++meeting.left == job.world_size) job.meetings.erase(own.meeting);
}

int test(Handle& handle, bool& is_done) noexcept {
  is_done = true;
  if (handle == 0) return 0;
  Request& own = request_of(handle);
  Job& job = *own.job;
  const std::scoped_lock lock(job.mutex);
  is_done = false;
  if (job.fails) return kFailed;
  if (own.delay-- > 0) return 0;
  if (!own.is_done && own.mail && !(job.holds && own.mail->sender)) {
    if (const int error = read_mail(job, own); error != 0) return error;
  }
  if (!own.is_done && own.finish && !job.holds) look_at_meeting(job, own);
  if (!own.is_done) return 0;
  is_done = true;
  job.forget(own);
  handle = 0;
  return 0;
}

// As a real MPI does, ends the program for a request that is not under way.
int cancel(Handle& handle) noexcept {
  if (handle == 0) std::abort();
  Request& own = request_of(handle);
  const std::scoped_lock lock(own.job->mutex);
  std::erase(own.job->posted, &own);
  if (!own.mail) own.is_done = true;
  return 0;
}

// Begins a collective. `finish` makes this rank's result once all ranks have arrived.
int meet(Handle handle, decltype(Meeting::call) call, std::vector<std::byte> given,
         std::function<void(const Meeting&)> finish, Handle& request) {
  Comm& comm = comm_of(handle);
  Job& job = *comm.job;
  const std::scoped_lock lock(job.mutex);
  request = 0;
  if (job.fails) return kFailed;
  const std::pair key{comm.context, comm.meetings++};
  Meeting& meeting = job.meetings[key];
  meeting.given.resize(job.world_size);
  if (meeting.arrived++ == 0) meeting.call = call;
  if (meeting.call != call) meeting.differs = true;
  meeting.given[comm.rank] = std::move(given);
  Request& own = job.add_request();
  own.meeting = key;
  own.finish = std::move(finish);
  request = handle_of(own);
  return 0;
}

int duplicate(Handle handle, Handle& made, Handle& request) noexcept {
  const std::size_t number = comm_of(handle).meetings;  // The same on all ranks.
  return meet(
      handle, {kDuplicate, 0, 0, 0, 0}, {},
      [handle, number, &made](const Meeting&) {
        const Comm& comm = comm_of(handle);
        Comm& own = comm.job->duplicates.emplace_back(comm);
        own.context = 100 * comm.context + number + 1;
        own.meetings = 0;
        made = handle_of(own);
      },
      request);
}

std::vector<std::byte> copy_of(const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  return {first, first + bytes};
}

template <class T>
T combined(T a, T b, ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return static_cast<T>(a + b);
    case ReduceOp::kProduct:
      return static_cast<T>(a * b);
    case ReduceOp::kMin:
      return std::min(a, b);
    case ReduceOp::kMax:
      return std::max(a, b);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::kBitAnd) return static_cast<T>(a & b);
    if (op == ReduceOp::kBitOr) return static_cast<T>(a | b);
    if (op == ReduceOp::kBitXor) return static_cast<T>(a ^ b);
  }
  return T{};
}

// Adds as many MPIs do: rank 0's values first.
template <class T>
void combine_all(const Meeting& meeting, std::byte* into, ReduceOp op) {
  const std::size_t count = meeting.given.front().size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) {
    T sum{};
    for (std::size_t rank = 0; rank < meeting.given.size(); ++rank) {
      T value{};
      std::memcpy(&value, meeting.given[rank].data() + i * sizeof(T), sizeof(T));
      // Without a sign, an overflow has a meaning.
      using Wrapped = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
      if constexpr (std::is_integral_v<T>) {
        const bool adds = op == ReduceOp::kSum || op == ReduceOp::kProduct;
        sum = rank == 0 ? value
              : adds    ? static_cast<T>(
                           combined(static_cast<Wrapped>(sum), static_cast<Wrapped>(value), op))
                     : combined(sum, value, op);
      } else {
        sum = rank == 0 ? value : combined(sum, value, op);
      }
    }
    std::memcpy(into + i * sizeof(T), &sum, sizeof(T));
  }
}

void combine_all(const Meeting& meeting, DataType type, ReduceOp op, void* values) {
  auto* into = static_cast<std::byte*>(values);
  switch (type) {
    case DataType::kFloat32:
      return combine_all<float>(meeting, into, op);
    case DataType::kFloat64:
      return combine_all<double>(meeting, into, op);
    case DataType::kInt8:
      return combine_all<std::int8_t>(meeting, into, op);
    case DataType::kUint8:
      return combine_all<std::uint8_t>(meeting, into, op);
    case DataType::kInt32:
      return combine_all<std::int32_t>(meeting, into, op);
    case DataType::kInt64:
      return combine_all<std::int64_t>(meeting, into, op);
    default:
      std::abort();  // MPI has no such type.
  }
}

int reduce(const void* input, void* values, int count, DataType type, ReduceOp op, int root,
           Handle comm, Handle& request) noexcept {
  const bool takes = root < 0 || comm_of(comm).rank == static_cast<std::size_t>(root);
  return meet(
      comm, {kReduce, count, static_cast<int>(type), static_cast<int>(op), root},
      copy_of(input ? input : values, bytes_for(count, type)),
      [=](const Meeting& meeting) {
        if (takes) combine_all(meeting, type, op, values);
      },
      request);
}

void add_collectives(Calls& calls) {
  calls.barrier = [](Handle comm, Handle& request) noexcept {
    return meet(
        comm, {kBarrier, 0, 0, 0, 0}, {}, [](const Meeting&) {}, request);
  };
  calls.broadcast = [](void* values, int count, DataType type, int root, Handle comm,
                       Handle& request) noexcept {
    const std::size_t bytes = bytes_for(count, type);
    return meet(
        comm, {kBroadcast, count, static_cast<int>(type), 0, root}, copy_of(values, bytes),
        [=](const Meeting& meeting) {
          const auto& given = meeting.given[static_cast<std::size_t>(root)];
          std::copy(given.begin(), given.end(), static_cast<std::byte*>(values));
        },
        request);
  };
  calls.all_reduce = [](const void* input, void* values, int count, DataType type, ReduceOp op,
                        Handle comm, Handle& request) noexcept {
    return reduce(input, values, count, type, op, input ? kOnAll : kOnAllInPlace, comm, request);
  };
  calls.reduce = reduce;
  calls.all_gather = [](const void* input, void* values, int part_count, DataType type, Handle comm,
                        Handle& request) noexcept {
    const std::size_t bytes = bytes_for(part_count, type);
    auto* all = static_cast<std::byte*>(values);
    return meet(
        comm, {kAllGather, part_count, static_cast<int>(type), 0, input ? kOnAll : kOnAllInPlace},
        copy_of(input ? input : all + comm_of(comm).rank * bytes, bytes),
        [=](const Meeting& meeting) {
          for (std::size_t rank = 0; rank < meeting.given.size(); ++rank) {
            std::ranges::copy(meeting.given[rank], all + rank * bytes);
          }
        },
        request);
  };
}

Calls make_calls() {
  Calls calls;
  calls.name = "a fake MPI";
  calls.is_initialized = []() noexcept { return is_initialized.load(); };
  calls.is_finalized = []() noexcept { return is_finalized.load(); };
  calls.describe = [](int error, char* text, std::size_t bytes) noexcept {
    std::snprintf(text, bytes, "fake error %d", error);
  };
  calls.thread_level = []() noexcept { return thread_level.load(); };
  calls.is_main_thread = []() noexcept { return is_main; };
  calls.place = [](Handle comm, int& rank, int& world_size) noexcept {
    rank = static_cast<int>(comm_of(comm).rank);
    world_size = static_cast<int>(comm_of(comm).job->world_size);
    return 0;
  };
  calls.largest_tag = [](int& tag) noexcept {
    tag = largest_tag;
    return 0;
  };
  calls.duplicate = duplicate;
  calls.return_errors = [](Handle) noexcept { return 0; };
  calls.free = [](Handle handle) noexcept {
    const Comm* comm = &comm_of(handle);
    Job& job = *comm->job;
    const std::scoped_lock lock(job.mutex);
    job.duplicates.remove_if([&](const Comm& each) { return &each == comm; });
    return 0;
  };
  calls.send = send;
  calls.receive = receive;
  calls.test = test;
  calls.cancel = cancel;
  add_collectives(calls);
  return calls;
}

}  // namespace

void set_fake_mpi(const FakeMpiState& state) {
  is_initialized = state.is_initialized;
  is_finalized = state.is_finalized;
  thread_level = state.level;
  largest_tag = state.largest_tag;
}

void be_main_thread(bool is_it) { is_main = is_it; }

FakeMpi::FakeMpi(std::size_t world_size, std::uint64_t seed) : job_(std::make_unique<Job>()) {
  job_->world_size = world_size;
  job_->random.seed(seed);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    job_->world.push_back({.job = job_.get(), .context = 1, .rank = rank});
  }
}

FakeMpi::~FakeMpi() = default;

const Calls& FakeMpi::calls() {
  static const Calls calls = make_calls();
  return calls;
}

Handle FakeMpi::comm(std::size_t rank) noexcept { return handle_of(job_->world[rank]); }

void FakeMpi::fail() {
  const std::scoped_lock lock(job_->mutex);
  job_->fails = true;
}

void FakeMpi::hold() {
  const std::scoped_lock lock(job_->mutex);
  job_->holds = true;
}

void FakeMpi::release() {
  const std::scoped_lock lock(job_->mutex);
  job_->holds = false;
}

bool FakeMpi::has_unread_mail_of(std::size_t rank) const {
  const std::scoped_lock lock(job_->mutex);
  return std::ranges::any_of(job_->mail, [rank](const Mail& each) {
    return each.sender && std::get<1>(each.key) == static_cast<int>(rank);
  });
}

std::size_t FakeMpi::open_requests() const {
  const std::scoped_lock lock(job_->mutex);
  return job_->requests.size();
}

std::size_t FakeMpi::open_comms() const {
  const std::scoped_lock lock(job_->mutex);
  return job_->duplicates.size();
}

}  // namespace rota::testing
