// Measures with the library's own sends and receives, because a training run uses the same.
#include "launcher/preflight/ring_measurement.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "base/time.h"

namespace rota::preflight {
namespace {

using base::Clock;
using Word = std::array<std::int64_t, 1>;

// The number of measurements of each edge. The best one counts: a CPU that another process had for
// a while is not a property of the edge.
constexpr int kPasses = 3;

constexpr std::size_t kRoundTrips = 100;
constexpr std::size_t kFewestRoundTrips = 10;
constexpr auto kLatencyTime = std::chrono::milliseconds(100);

// A stream is lengthened until it takes this long. In so long a stream, two things count little:
// the slow start, and the burst that a traffic shaper lets pass.
constexpr auto kStreamTime = std::chrono::milliseconds(150);
constexpr std::int64_t kFirstStreamBytes = std::int64_t{1} << 16;
constexpr std::int64_t kMostStreamBytes = std::int64_t{1} << 34;
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

constexpr int kClockLooks = 7;

void send_word(Communicator& comm, std::int64_t value, std::size_t to) {
  const Word word = {value};
  comm.send(word, to);
}

std::int64_t receive_word(Communicator& comm, std::size_t from) {
  Word word{};
  comm.receive(word, from);
  return word[0];
}

// measure_latency() and measure_bandwidth() both send a zero at the end, and this zero ends a loop
// of answer().
double measure_latency(Communicator& comm, std::size_t to) {
  base::Duration shortest = base::Duration::max();
  const base::TimePoint end = Clock::now() + kLatencyTime;
  for (std::size_t i = 0; i < kRoundTrips; ++i) {
    const base::TimePoint start = Clock::now();
    if (i >= kFewestRoundTrips && start >= end) break;
    send_word(comm, 1, to);
    receive_word(comm, to);
    shortest = std::min(shortest, base::Duration(Clock::now() - start));
  }
  send_word(comm, 0, to);
  return base::to_seconds(shortest) / 2;
}

// Returns the bandwidth. `bytes` is the length to begin with. On return `bytes` is the length that
// took long enough.
double measure_bandwidth(Communicator& comm, std::size_t to, double latency, std::int64_t& bytes) {
  std::vector<std::byte> piece(static_cast<std::size_t>(kPieceBytes));
  double bandwidth = 0;
  for (;; bytes *= 2) {
    const base::TimePoint start = Clock::now();
    send_word(comm, bytes, to);
    const std::int64_t piece_bytes = std::min(bytes, kPieceBytes);
    const auto part = std::span(piece).first(static_cast<std::size_t>(piece_bytes));
    for (std::int64_t sent = 0; sent < bytes; sent += piece_bytes) comm.send(part, to);
    receive_word(comm, to);
    const base::Duration took = Clock::now() - start;
    // Two latencies pass even without the bytes.
    const double seconds = std::max(base::to_seconds(took) - 2 * latency,  //
                                    base::to_seconds(took) / 2);
    bandwidth = static_cast<double>(bytes) / seconds;
    if (took >= kStreamTime || bytes >= kMostStreamBytes) break;
  }
  send_word(comm, 0, to);
  return bandwidth;
}

void answer(Communicator& comm, std::size_t from) {
  while (receive_word(comm, from) != 0) send_word(comm, 1, from);
  std::vector<std::byte> piece(static_cast<std::size_t>(kPieceBytes));
  while (const std::int64_t bytes = receive_word(comm, from)) {
    const std::int64_t piece_bytes = std::min(bytes, kPieceBytes);
    const auto part = std::span(piece).first(static_cast<std::size_t>(piece_bytes));
    for (std::int64_t got = 0; got < bytes; got += piece_bytes) comm.receive(part, from);
    send_word(comm, 1, from);
  }
}

std::int64_t wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Returns by how many seconds the other clock is ahead. Uses the exchange that took the shortest
// time, and assumes that the other clock was read in the middle of that exchange.
double clock_ahead(Communicator& comm, std::size_t rank) {
  constexpr double kNanosecond = 1e-9;
  double ahead = 0;
  base::Duration shortest = base::Duration::max();
  for (int look = 0; look < kClockLooks; ++look) {
    const base::TimePoint start = Clock::now();
    const std::int64_t own = wall_clock();
    send_word(comm, 1, rank);
    const std::int64_t other = receive_word(comm, rank);
    const base::Duration took = Clock::now() - start;
    if (took >= shortest) continue;
    shortest = took;
    ahead = static_cast<double>(other - own) * kNanosecond - base::to_seconds(took) / 2;
  }
  return ahead;
}

}  // namespace

std::vector<std::vector<std::size_t>> edge_rounds(std::size_t world_size) {
  if (world_size < 2) return {};
  const bool is_odd = world_size % 2 != 0;
  std::vector<std::vector<std::size_t>> rounds(is_odd ? 3 : 2);
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    const bool is_left_over = is_odd && rank + 1 == world_size;
    rounds[is_left_over ? 2 : rank % 2].push_back(rank);
  }
  return rounds;
}

std::vector<std::string> texts_of_all(Communicator& comm, const std::string& own) {
  std::vector<std::int64_t> lengths(comm.world_size());
  const Word length = {static_cast<std::int64_t>(own.size())};
  comm.all_gather(length, lengths);
  const std::vector<std::size_t> counts(lengths.begin(), lengths.end());
  std::size_t total = 0;
  for (const std::size_t count : counts) total += count;
  std::vector<std::byte> all(total);
  const auto bytes = std::as_bytes(std::span(own));
  comm.all_gather_v(bytes, all, counts);
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (const std::size_t count : counts) {
    texts.emplace_back(reinterpret_cast<const char*>(all.data()) + begin, count);
    begin += count;
  }
  return texts;
}

std::string hand_out(Communicator& comm, std::string of_rank_0) {
  Word length = {static_cast<std::int64_t>(of_rank_0.size())};
  comm.broadcast(length, 0);
  of_rank_0.resize(static_cast<std::size_t>(length[0]));
  const auto bytes = std::as_writable_bytes(std::span(of_rank_0));
  if (!bytes.empty()) comm.broadcast(bytes, 0);
  return of_rank_0;
}

std::vector<double> compare_clocks(Communicator& comm) {
  std::vector<double> ahead(comm.world_size());
  for (std::size_t rank = 1; comm.rank() == 0 && rank < ahead.size(); ++rank) {
    ahead[rank] = clock_ahead(comm, rank);
  }
  for (int look = 0; comm.rank() > 0 && look < kClockLooks; ++look) {
    receive_word(comm, 0);
    send_word(comm, wall_clock(), 0);
  }
  return ahead;
}

std::vector<Edge> measure_edges(Communicator& comm) {
  const std::size_t world_size = comm.world_size();
  const std::size_t next = (comm.rank() + 1) % world_size;
  const std::size_t last = (comm.rank() + world_size - 1) % world_size;
  std::int64_t stream_bytes = kFirstStreamBytes;
  std::array<double, 2> own = {HUGE_VAL, 0};
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const auto& senders : edge_rounds(world_size)) {
      comm.barrier();
      if (std::ranges::find(senders, comm.rank()) != senders.end()) {
        own[0] = std::min(own[0], measure_latency(comm, next));
        own[1] = std::max(own[1], measure_bandwidth(comm, next, own[0], stream_bytes));
      } else if (std::ranges::find(senders, last) != senders.end()) {
        answer(comm, last);
      }
    }
  }
  if (world_size < 2) return {};
  std::vector<double> all(2 * world_size);
  comm.all_gather(own, all);
  std::vector<Edge> edges;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    edges.push_back({.from = rank,
                     .to = (rank + 1) % world_size,
                     .latency = all[2 * rank],
                     .bandwidth = all[2 * rank + 1]});
  }
  return edges;
}

}  // namespace rota::preflight
