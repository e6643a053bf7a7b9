// Lets rank 0 listen and put its word into the store, and lets the other ranks read the word.
#include "communicator/find_rank_zero.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <span>

#include <rota/error.h>

#include "base/hex.h"
#include "communicator/listening_ports.h"
#include "communicator/local_memory.h"
#include "communicator/rank_zero.h"
#include "os/address.h"
#include "os/host.h"
#include "os/listener.h"
#include "os/loaded_libraries.h"
#include "stores/pmi_store.h"
#include "stores/pmix_store.h"

namespace rota {
namespace {

constexpr std::string_view kPmix = "pmix";
constexpr std::string_view kPmi = "pmi:";

// Throws if the server says something else than the variables of the launcher.
void require_same(const JobByHand& job, const stores::PmixStore& store) {
  const std::size_t world_size = job.table.rows.size();
  if (store.rank() == job.rank && store.world_size() == world_size) return;
  const auto place = [](std::size_t rank, std::size_t of) {
    return "rank " + std::to_string(rank) + " of " + std::to_string(of);
  };
  throw Error(ErrorCode::kInvalidArgument,
              job.table.source + " and the launcher's PMIx server contradict each other: " +
                  job.table.source + " says " + place(job.rank, world_size) + "; the server says " +
                  place(store.rank(), store.world_size()) +
                  "; start the program with only one of them");
}

// A server of PMI-1 talks with one client of each rank, over one descriptor: a second client would
// take the answers that MPI waits for. A server of PMIx serves several clients.
void require_no_mpi() {
  const std::string library = mpi_library_among(os::loaded_libraries());
  if (library.empty()) return;
  throw Error(ErrorCode::kInvalidArgument,
              "this process has loaded " + library +
                  ", and MPI needs the launcher's PMI server (PMI_FD) for itself: after MPI_Init, "
                  "make the communicator with rota::mpi::communicator; or, if the program does not "
                  "use MPI, start it with rotarun");
}

bool are_on_one_host(const RankTable& table) {
  const std::string& first = table.rows.front().host;
  return !first.empty() &&
         std::ranges::all_of(table.rows, [&](const RankRow& row) { return row.host == first; });
}

// Returns whether rank 0 listens at a local name, which lets in only processes of this user. No
// process of another container reaches it, so rank 0 listens at a port if a person names a key.
bool listens_at_local_name(const JobByHand& job) {
  return job.key.empty() && are_on_one_host(job.table);
}

os::Fd listen_for_others(const JobByHand& job, const std::optional<base::PortRange>& ports,
                         RankZero& first) {
  if (listens_at_local_name(job)) {
    first.places = {random_local_name()};
    return os::listen_on(os::parse_address(first.places.front())).socket;
  }
  os::Listener listener = listen_as_rank_0("::", ports);
  const std::string port = ":" + os::split_address(listener.address).port;
  for (const std::string& address : os::own_addresses()) {
    const bool has_colon = address.find(':') != std::string::npos;
    first.places.push_back((has_colon ? "[" + address + "]" : address) + port);
  }
  if (first.places.empty()) first.places.push_back(os::kLoopback + port);
  return std::move(listener.socket);
}

// Returns the key in rank 0's word. The text has two digits for each byte, and nothing else: a
// digit that is read as 0 would make a key that others can guess.
auth::Key read_key(const std::string& text) {
  auth::Key key;
  bool is_whole = text.size() == 2 * auth::kKeyBytes;
  for (std::size_t i = 0; is_whole && i < auth::kKeyBytes; ++i) {
    const char* const digits = text.data() + 2 * i;
    unsigned byte = 0;
    is_whole = std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    key.bytes()[i] = static_cast<std::byte>(byte);
  }
  if (is_whole) return key;
  throw Error(ErrorCode::kBadData, "rank 0's key in the launcher's store is malformed");
}

auth::Key agreed_key(const JobByHand& job, RankZero& first) {
  if (first.key.empty() != job.key.empty()) {
    if (first.key.empty()) return own_key(job);
    auth::Key key = read_key(first.key);
    os::wipe(std::as_writable_bytes(std::span(first.key)));
    return key;
  }
  const std::string own = "rank " + std::to_string(job.rank);
  throw Error(ErrorCode::kMismatch,
              (job.key.empty() ? "rank 0 has a key file, but " + own + " has none"
                               : own + " has a key file, but rank 0 has none") +
                  ": set ROTA_KEY_FILE for all ranks, or for none",
              0);
}

}  // namespace

auth::Key own_key(const JobByHand& job) {
  constexpr std::array<std::byte, auth::kKeyBytes> kNoSecret{};
  const auto given = std::as_bytes(std::span(job.key));
  const std::string id = job.id.empty() ? "by hand" : "by hand " + job.id;
  return auth::job_key(given.empty() ? std::span<const std::byte>(kNoSecret) : given, id);
}

// A library of C++ or of Fortran beside them has another name, and loads one of these.
std::string mpi_library_among(const std::vector<std::string>& paths) {
  constexpr std::string_view kNames[] = {"libmpi.so", "libmpich.so", "libmpi_abi.so"};
  for (const std::string& path : paths) {
    std::string file = path.substr(path.rfind('/') + 1);
    const auto is_named = [&](std::string_view name) { return file.starts_with(name); };
    if (std::ranges::any_of(kNames, is_named)) return file;
  }
  return {};
}

bool is_store(std::string_view meeting) noexcept {
  return meeting == kPmix || meeting.starts_with(kPmi);
}

bool meets_at_local_name(const JobByHand& job) {
  return is_store(job.meeting) ? listens_at_local_name(job)
                               : job.meeting.starts_with(os::kLocalSign);
}

std::unique_ptr<stores::Store> open_store(const JobByHand& job, base::TimePoint deadline) {
  if (job.meeting == kPmix) {
    auto store = std::make_unique<stores::PmixStore>(deadline);
    require_same(job, *store);
    return store;
  }
  const std::string_view number = std::string_view(job.meeting).substr(kPmi.size());
  int fd = -1;
  const auto result = std::from_chars(number.data(), number.data() + number.size(), fd);
  if (result.ec != std::errc() || result.ptr != number.data() + number.size() || fd < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "PMI_FD is '" + std::string(number) + "', not a descriptor's number");
  }
  require_no_mpi();
  return std::make_unique<stores::PmiStore>(fd, job.rank == 0);
}

FoundRankZero find_rank_zero(const JobByHand& job, stores::Store& store,
                             const std::optional<base::PortRange>& ports,
                             base::TimePoint deadline) {
  FoundRankZero found;
  RankZero first{.machine = os::machine_id(), .places = {}};
  std::string own;
  if (job.rank == 0) {
    try {
      found.listener = listen_for_others(job, ports, first);
    } catch (const Error&) {
      store.share(std::string(kNoPlaces), deadline);  // Ends their wait.
      throw;
    }
    found.key = job.key.empty() ? auth::random_key() : own_key(job);
    if (job.key.empty()) first.key = base::to_hex(found.key.bytes());
    own = encode(first);
    os::wipe(std::as_writable_bytes(std::span(first.key)));
  }
  std::string word = store.share(own, deadline);
  os::wipe(std::as_writable_bytes(std::span(own)));
  if (job.rank == 0) {
    os::wipe(std::as_writable_bytes(std::span(word)));
    return found;
  }
  if (word == kNoPlaces) {
    throw Error(ErrorCode::kPeerLost,
                "rank 0 could not listen for the other ranks: its own error says why", 0);
  }
  auto of_rank_0 = decode_rank_zero(word);
  os::wipe(std::as_writable_bytes(std::span(word)));
  if (!of_rank_0) {
    throw Error(ErrorCode::kBadData,
                "rank 0's word in the launcher's store is malformed: link all programs with the "
                "same rota");
  }
  found.key = agreed_key(job, *of_rank_0);
  found.places = places_to_try(*of_rank_0, first.machine, os::own_addresses());
  if (!found.places.empty()) return found;
  throw Error(ErrorCode::kSystem,
              "rank 0 is on another machine, which has only addresses that this machine has too, "
              "such as " +
                  of_rank_0->places.front() + ": no network connects the two",
              0);
}

}  // namespace rota
