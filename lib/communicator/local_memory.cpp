// Hands the memfds of arenas from the first rank of a domain to the others.
#include "communicator/local_memory.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <rota/error.h>

#include "base/arena_size.h"
#include "base/byte_stream.h"
#include "base/hex.h"
#include "os/address.h"
#include "os/file.h"
#include "os/host.h"
#include "os/message_socket.h"
#include "os/poll_set.h"
#include "os/shared_mapping.h"

namespace rota {
namespace {

using base::Clock;
using base::TimePoint;

// The pause before a rank tries again to connect to a name at which too many ranks wait.
constexpr std::chrono::milliseconds kPause{5};

// A wait looks around at these intervals.
constexpr std::chrono::milliseconds kGlance{50};

// At most this many processes of the same user that are not ranks of the job are listened to.
constexpr std::size_t kMostStrangers = 64;

// Has the end of a wait, and what to do in the meantime.
struct Patience {
  TimePoint deadline;
  const std::function<void()>& look_around;

  void wait(os::PollSet& polls) const {
    polls.wait(std::min(deadline, Clock::now() + kGlance));
    look_around();
  }
  bool is_over() const { return Clock::now() >= deadline; }
};

std::vector<os::Fd> make_arenas(const std::vector<std::size_t>& ranks) {
  const std::size_t count = ranks.size();
  const base::ArenaLimits limits{.file_bytes = os::file_size_limit_bytes(),
                                 .address_bytes = os::free_address_bytes()};
  const std::size_t wanted =
      base::arena_bytes(os::physical_memory_bytes(), count, sizeof(void*) == 8);
  const std::size_t bytes = base::within_limits(wanted, count, limits);
  if (bytes == 0) throw Error(ErrorCode::kNoMemory, base::lack_of_room(count, limits));
  std::vector<os::Fd> arenas;
  arenas.reserve(ranks.size());
  for (const std::size_t rank : ranks) {
    arenas.push_back(os::make_shared_memory("rota-arena-" + std::to_string(rank), bytes));
  }
  return arenas;
}

std::vector<std::byte> as_message(std::size_t rank) {
  base::ByteWriter out;
  out.write(static_cast<std::uint64_t>(rank));
  return out.take();
}

// Hands over the arenas of a domain to its other ranks, in the order in which they come.
class Giver {
 public:
  Giver(const os::Fd& listener, std::vector<std::size_t> absent, const std::vector<os::Fd>& arenas)
      : listener_(listener), absent_(std::move(absent)) {
    for (const os::Fd& arena : arenas) fds_.push_back(arena.get());
  }

  void run(const Patience& patience) {
    while (!absent_.empty() || std::ranges::any_of(callers_, &Caller::is_known)) {
      if (patience.is_over()) throw_late();
      wait(patience);
      while (auto socket = os::accept_messages(listener_.get())) {
        if (has_room()) callers_.push_back({.socket = std::move(*socket)});
      }
      std::erase_if(callers_, [&](Caller& caller) { return !serve(caller); });
    }
  }

 private:
  struct Caller {
    os::Fd socket;
    bool is_known = false;
    std::size_t rank = 0;  // If it is known.
    std::size_t given_count = 0;
  };

  // Callers that are known have a place of their own: they are ranks.
  bool has_room() const {
    const auto unknown = std::ranges::count(callers_, false, &Caller::is_known);
    return static_cast<std::size_t>(unknown) < absent_.size() + kMostStrangers;
  }

  void wait(const Patience& patience) {
    polls_.clear();
    polls_.add(listener_.get(), true, false);
    for (const Caller& caller : callers_) {
      polls_.add(caller.socket.get(), !caller.is_known, caller.is_known);
    }
    patience.wait(polls_);
  }

  // Returns false once the caller has all, or is gone.
  bool serve(Caller& caller) {
    if (!caller.is_known && !learn_rank(caller)) return static_cast<bool>(caller.socket);
    while (caller.given_count < fds_.size()) {
      const std::size_t count = std::min(fds_.size() - caller.given_count, os::kMaxMessageFds);
      const auto message = as_message(count);
      const os::Io io = os::send_message(caller.socket.get(), message,
                                         std::span(fds_).subspan(caller.given_count, count));
      if (io == os::Io::kWouldBlock) return true;
      if (io == os::Io::kClosed) return false;
      caller.given_count += count;
    }
    return false;
  }

  // Reads the rank of the caller. Hangs up if the caller is not one of the absent ranks.
  bool learn_rank(Caller& caller) {
    std::vector<std::byte> bytes;
    std::vector<os::Fd> none;
    const os::Io io = os::receive_message(caller.socket.get(), bytes, none);
    if (io == os::Io::kWouldBlock) return false;
    base::ByteReader in(bytes);
    caller.rank = static_cast<std::size_t>(in.read<std::uint64_t>());
    const bool is_one = io == os::Io::kDone && in.ok() && std::erase(absent_, caller.rank) > 0;
    if (!is_one) caller.socket.reset();
    caller.is_known = is_one;
    return is_one;
  }

  [[noreturn]] void throw_late() const {
    const auto known = std::ranges::find_if(callers_, &Caller::is_known);
    const std::size_t late = absent_.empty() ? known->rank : absent_.front();
    throw Error(ErrorCode::kTimeout,
                "rank " + std::to_string(late) +
                    ", on this machine, did not fetch the memory that the ranks here share",
                late);
  }

  const os::Fd& listener_;
  std::vector<std::size_t> absent_;
  std::vector<int> fds_;
  std::vector<Caller> callers_;
  os::PollSet polls_;
};

os::Fd connect_to(const std::string& name, const Patience& patience) {
  const os::Address address = os::parse_address(name);
  os::PollSet none;
  for (;;) {
    if (auto socket = os::connect_for_messages(address)) return std::move(*socket);
    if (patience.is_over()) {
      throw Error(ErrorCode::kTimeout, "too many processes wait at " + name);
    }
    none.wait(Clock::now() + kPause);
    patience.look_around();
  }
}

std::vector<os::Fd> fetch_arenas(const std::vector<std::size_t>& local_peers, std::size_t rank,
                                 const std::string& first_name, const Patience& patience) {
  const std::string first = "rank " + std::to_string(local_peers.front());
  const os::Fd socket = connect_to(first_name, patience);
  os::send_message(socket.get(), as_message(rank));
  os::PollSet polls;
  polls.add(socket.get(), true, false);
  std::vector<os::Fd> arenas;
  std::vector<os::Fd> some;
  std::vector<std::byte> bytes;
  while (arenas.size() < local_peers.size()) {
    const os::Io io = os::receive_message(socket.get(), bytes, some);
    std::ranges::move(some, std::back_inserter(arenas));
    if (io == os::Io::kClosed && arenas.size() < local_peers.size()) {
      throw Error(ErrorCode::kPeerLost, first + " ended before it had handed over the memory",
                  local_peers.front());
    }
    if (io != os::Io::kWouldBlock) continue;
    if (patience.is_over()) {
      throw Error(ErrorCode::kTimeout, first + " did not hand over the memory that it shares",
                  local_peers.front());
    }
    patience.wait(polls);
  }
  return arenas;
}

}  // namespace

std::string random_local_name() {
  std::array<std::byte, 8> bytes{};
  os::fill_with_randomness(bytes);
  return os::kLocalSign +
         ("rota-" + std::to_string(os::own_user()) + "-" + base::to_hex(bytes) + ":0");
}

LocalMeeting::LocalMeeting()
    : name_(random_local_name()), listener_(os::listen_for_messages(os::parse_address(name_))) {}

std::vector<os::Fd> LocalMeeting::share_arenas(const std::vector<std::size_t>& local_peers,
                                               std::size_t rank, const std::string& first_name,
                                               const std::function<void()>& look_around,
                                               TimePoint deadline) {
  const Patience patience{deadline, look_around};
  if (local_peers.front() != rank) {
    listener_.reset();
    return fetch_arenas(local_peers, rank, first_name, patience);
  }
  std::vector<os::Fd> arenas = make_arenas(local_peers);
  Giver(listener_, {local_peers.begin() + 1, local_peers.end()}, arenas).run(patience);
  return arenas;
}

}  // namespace rota
