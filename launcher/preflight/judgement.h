// Judges whether a job could run on the hosts that were looked at, and how well. Sees no clock, no
// file and no socket.
//
//   unusable   the job would not run: a program that is missing or cannot be run, too few slots,
//              ports or files; another version of rota
//   degraded   it would run, and not as meant: programs that differ, a soft limit of open files
//              below the usual, more ranks than slots, an edge that is slow for this ring
//   fine       all else, also what is told for information: clocks, memory, /dev/shm
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/preflight_job.h"
#include "launcher/preflight/host_facts.h"
#include "launcher/preflight/ring.h"

namespace rota::preflight {

using launcher::Verdict;

// What is held against the median of the ring: an edge is slow with less than half of its
// bandwidth, or with more than three times its latency where that is a millisecond more: what a
// process waits for a busy CPU is no more than that, mostly.
inline constexpr double kLeastBandwidthRatio = 0.5;
inline constexpr double kMostLatencyRatio = 3;
inline constexpr double kLeastLatencyDifference = 1e-3;

// More is said to be apart, in seconds. Nothing of rota's goes by wall clocks.
inline constexpr double kMostClockDifference = 1;

// What most systems have. Data sets of many files, and whoever opens sockets, count on it.
inline constexpr std::uint64_t kUsualFileLimit = 1024;

struct Host {
  std::string name{};
  std::string address{};  // Where its rank listened; empty where it is alone.
  HostFacts facts{};
  double clock_ahead = 0;  // Of host 0's, in seconds.
};

struct Inspection {
  std::vector<Host> hosts{};  // By rank of the preflight, which is one on each.
  std::vector<Edge> edges{};
  launcher::Options options{};              // Host 0's, which are the job's.
  std::optional<std::size_t> world_size{};  // Where it is declared beside --np.
};

// What one look at all hosts has shown.
struct Finding {
  std::string check{};  // "program"
  Verdict verdict = Verdict::kFine;
  std::string found{};
  std::string advice{};  // What to do, or what it means; empty where there is nothing to do.
};

// What was found, and what to do.
std::string to_text(const Finding& finding);

struct EdgeRating {
  double latency_ratio = 1;  // To the ring's median.
  double bandwidth_ratio = 1;
  bool has_long_latency = false;
  bool has_low_bandwidth = false;

  bool is_slow() const noexcept { return has_long_latency || has_low_bandwidth; }
};

struct Judgement {
  Verdict verdict = Verdict::kFine;  // The worst of the findings.
  std::string reason{};              // The first one that is as bad; empty where all is fine.
  std::vector<Finding> findings{};
  std::vector<EdgeRating> edges{};  // Index: as in the inspection.
};

// An even number of edges has two medians; the better one is meant, so that of two edges the slow
// one can show.
std::vector<EdgeRating> rate(const std::vector<Edge>& edges);

Judgement judge(const Inspection& inspection);

// "9.4 Gbit/s", "38 us"
std::string bandwidth_text(double bytes_per_second);
std::string latency_text(double seconds);

}  // namespace rota::preflight
