// Judges whether a job could run on the inspected hosts, and how well. This code uses no clock,
// file or socket.
//
//   unusable   the job would not run: a program that is missing or cannot be run, too few slots,
//              ports, files or processes, no room for arenas; another version of rota
//   degraded   the job would run, but not as intended: programs that differ, a soft limit of open
//              files below the usual, a limit that makes arenas small, more ranks than slots, an
//              edge that is slow for this ring
//   fine       everything else, including facts for information: clocks, memory, /dev/shm
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "launcher/command/options.h"
#include "launcher/job/preflight_job.h"
#include "launcher/preflight/host_facts.h"
#include "launcher/preflight/ring_measurement.h"

namespace rota::preflight {

using launcher::Verdict;

// Limits relative to the ring's median. An edge is slow with less than half of the median
// bandwidth. It is also slow with more than three times the median latency, if the difference is
// more than a millisecond: a process that waits for a busy CPU mostly waits less than that.
inline constexpr double kLeastBandwidthRatio = 0.5;
inline constexpr double kMostLatencyRatio = 3;
inline constexpr double kLeastLatencyDifference = 1e-3;

// Clocks that differ by more seconds are reported. Rota itself does not depend on wall clocks.
inline constexpr double kMostClockDifference = 1;

// The default of most systems. Data sets of many files, and programs that open sockets, rely on it.
inline constexpr std::uint64_t kUsualFileLimit = 1024;

struct Host {
  std::string name{};
  std::string address{};  // Where its rank listened; empty for a single host.
  HostFacts facts{};
  double clock_ahead = 0;  // Ahead of host 0's clock, in seconds.
};

struct Inspection {
  std::vector<Host> hosts{};  // By rank of the preflight, which has one on each host.
  std::vector<Edge> edges{};
  launcher::Options options{};              // Host 0's options, which hold for the job.
  std::optional<std::size_t> world_size{};  // As a source other than --np declares it, if any.
};

// The result of one check of all hosts.
struct Finding {
  std::string check{};  // "program"
  Verdict verdict = Verdict::kFine;
  std::string found{};
  std::string advice{};  // What to do, or what the result means; may be empty.
};

// Joins what was found and what to do.
std::string to_text(const Finding& finding);

struct EdgeRating {
  double latency_ratio = 1;  // This and the next: relative to the ring's median.
  double bandwidth_ratio = 1;
  bool has_long_latency = false;
  bool has_low_bandwidth = false;

  bool is_slow() const noexcept { return has_long_latency || has_low_bandwidth; }
};

struct Judgement {
  Verdict verdict = Verdict::kFine;  // The worst of the findings.
  std::string reason{};              // The first finding with this verdict; empty if fine.
  std::vector<Finding> findings{};
  std::vector<EdgeRating> edges{};  // Same index as Inspection::edges.
};

// Rates each edge against the median. An even number of edges has two medians. The better one
// counts, so that the slow edge of two can be detected.
std::vector<EdgeRating> rate(const std::vector<Edge>& edges);

Judgement judge(const Inspection& inspection);

// Return texts such as "9.4 Gbit/s" and "38 us".
std::string bandwidth_text(double bytes_per_second);
std::string latency_text(double seconds);

}  // namespace rota::preflight
