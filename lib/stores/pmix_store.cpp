// Calls libpmix. The library answers in a thread of its own, perhaps after this rank has given up.
#include "stores/pmix_store.h"

#include <dlfcn.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <rota/error.h>

#include "os/quiet_thread.h"
#include "stores/wipe.h"

namespace rota::stores {
namespace {

using pmix::Status;

constexpr const char* kLibrary = "libpmix.so.2";
constexpr const char* kWordKey = "rota.rank0";

[[noreturn]] void throw_no_library(const char* why) {
  throw Error(ErrorCode::kSystem,
              std::string("this rank was started by a launcher with a PMIx server, but ") +
                  kLibrary + " cannot be used (" + (why ? why : "unknown") +
                  "): install it on each host (in Debian the package libpmix2), or put rotarun "
                  "before the program");
}

template <class Call>
void find_call(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(::dlsym(library, name));
  if (!call) throw_no_library(::dlerror());
}

// Opens the library once for the process, and never closes it: its threads may still run. Its
// plug-ins look for its names among those of all libraries, so it must be RTLD_GLOBAL.
pmix::Calls open_library() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (!library) throw_no_library(::dlerror());
  pmix::Calls calls;
  find_call(library, "PMIx_Init", calls.init);
  find_call(library, "PMIx_Finalize", calls.finalize);
  find_call(library, "PMIx_Put", calls.put);
  find_call(library, "PMIx_Commit", calls.commit);
  find_call(library, "PMIx_Fence_nb", calls.fence);
  find_call(library, "PMIx_Get_nb", calls.get);
  find_call(library, "PMIx_Error_string", calls.error_text);
  return calls;
}

const pmix::Calls& library_calls() {
  static const pmix::Calls kCalls = open_library();
  return kCalls;
}

void require(const pmix::Calls& calls, Status status, const std::string& what) {
  if (status == pmix::kSuccess || status == pmix::kAlreadyDone) return;
  throw Error(ErrorCode::kSystem, "the launcher's PMIx server: " + what +
                                      " failed: " + calls.error_text(status) + " (" +
                                      std::to_string(status) + ")");
}

// An answer that a thread of the library gives. The library keeps a share of it, because the
// answer may come after the wait for it has ended.
class Answer {
 public:
  using Share = std::shared_ptr<Answer>;

  // Return the callbacks that give the answer. They own the pointer `share`.
  static void on_done(Status status, void* share) { take(share)->give(status, nullptr); }
  static void on_value(Status status, pmix::Value* value, void* share) {
    take(share)->give(status, value);
  }

  Answer() = default;
  ~Answer() {
    if (text_) wipe(*text_);
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  // Returns the status, or nothing at the deadline.
  std::optional<Status> wait(base::TimePoint deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [&] { return status_.has_value(); })) return {};
    return status_;
  }

  // The value, if it is of that type. Must be called after wait().
  const std::optional<std::string>& text() const noexcept { return text_; }
  std::optional<std::uint32_t> number() const noexcept { return number_; }

 private:
  static Share take(void* share) {
    const std::unique_ptr<Share> owner(static_cast<Share*>(share));
    return *owner;
  }

  void give(Status status, const pmix::Value* value) {
    const std::scoped_lock lock(mutex_);
    status_ = status;
    if (value && value->type == pmix::kString && value->data.string) text_ = value->data.string;
    if (value && value->type == pmix::kUint32) number_ = value->data.number;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> status_;
  std::optional<std::string> text_;
  std::optional<std::uint32_t> number_;
};

// Calls `start` with a share of an answer, and waits for the answer.
template <class Start>
Answer::Share wait_for(const pmix::Calls& calls, const std::string& what, base::TimePoint deadline,
                       const std::string& at_timeout, Start start) {
  auto answer = std::make_shared<Answer>();
  auto share = std::make_unique<Answer::Share>(answer);
  const Status status = start(share.get());
  if (status == pmix::kAlreadyDone) return answer;  // The callback will not be called.
  require(calls, status, what);
  (void)share.release();
  const auto outcome = answer->wait(deadline);
  if (!outcome) throw Error(ErrorCode::kTimeout, "the launcher's PMIx server: " + at_timeout);
  require(calls, *outcome, what);
  return answer;
}

pmix::Info flag_of(const char* key) {
  pmix::Info info{};
  std::strncpy(info.key, key, pmix::kKeyBytes - 1);
  info.value.type = pmix::kBool;
  info.value.data.flag = true;
  return info;
}

}  // namespace

bool has_pmix_library() noexcept {
  try {
    library_calls();
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

// PMIx_Init waits for ever for a server that does not answer, so a thread of its own calls it.
// After the deadline this thread still waits, and it has a share of what PMIx_Init writes to.
PmixStore::PmixStore(base::TimePoint deadline) : calls_(library_calls()) {
  const auto own = std::make_shared<pmix::Proc>();
  wait_for(calls_, "connecting to it", deadline, "it does not answer", [&](Answer::Share* share) {
    os::start_quiet_thread([own, share, &calls = calls_] {
      Answer::on_done(calls.init(own.get(), nullptr, 0), share);
    }).detach();
    return pmix::kSuccess;
  });
  own_ = *own;
}

PmixStore::~PmixStore() { calls_.finalize(nullptr, 0); }

std::size_t PmixStore::world_size() const { return number_of_job(pmix::kJobSize); }
std::size_t PmixStore::local_world_size() const { return number_of_job(pmix::kLocalSize); }

pmix::Proc PmixStore::with_rank(pmix::Rank rank) const noexcept {
  pmix::Proc proc = own_;
  proc.rank = rank;
  return proc;
}

std::uint32_t PmixStore::number_of_job(const char* key) const {
  const pmix::Proc job = with_rank(pmix::kAnyRank);
  const std::string what = "reading " + std::string(key);
  const auto answer = wait_for(calls_, what, base::Clock::now() + kServerPatience,
                               what + " takes long", [&](Answer::Share* share) {
                                 return calls_.get(&job, key, nullptr, 0, Answer::on_value, share);
                               });
  if (answer->number()) return *answer->number();
  throw Error(ErrorCode::kBadData,
              "the launcher's PMIx server: " + std::string(key) + " is not a number of 32 bits");
}

std::string PmixStore::share(const std::string& word, base::TimePoint deadline) {
  if (own_.rank == 0) {
    std::string text = word;
    pmix::Value value{.type = pmix::kString, .data = {.string = text.data()}};
    const Status status = calls_.put(pmix::kGlobal, kWordKey, &value);
    wipe(text);
    require(calls_, status, "storing a value");
    require(calls_, calls_.commit(), "storing a value");
  }
  const pmix::Proc job = with_rank(pmix::kAnyRank);
  const pmix::Info collect = flag_of(pmix::kCollectData);
  wait_for(calls_, "the fence of all ranks", deadline, "not all ranks have reached the fence",
           [&](Answer::Share* share) {
             return calls_.fence(&job, 1, &collect, 1, Answer::on_done, share);
           });
  if (own_.rank == 0) return word;
  const pmix::Proc first = with_rank(0);
  const auto answer =
      wait_for(calls_, "reading the value of rank 0", deadline, "it has no value of rank 0 yet",
               [&](Answer::Share* share) {
                 return calls_.get(&first, kWordKey, nullptr, 0, Answer::on_value, share);
               });
  if (answer->text()) return *answer->text();
  throw Error(ErrorCode::kBadData, "the launcher's PMIx server: rank 0's value is not a text");
}

}  // namespace rota::stores
