// Makes the status port's answers to /livez, /readyz and /ranks: a pure function of the request and
// of the job.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rota/rank_table.h>

#include "launcher/plan/table_json.h"
#include "launcher/status/http_request.h"

namespace rota::launcher {

struct JobStatus {
  RankTable table{};
  KnownDevices devices{};
  std::vector<RankState> states{};  // Index: rank.
  std::string waiting_for{};        // Before the job begins: what is missing, in a sentence.
  bool is_done = false;             // All hosts have agreed that every rank ended with 0.
};

// Returns which ranks are absent, in a sentence; empty if the world is complete. A rank is present
// from its start until it fails.
std::string absence_text(const JobStatus& status);

// The job's status at one moment. The status is made when the first caller asks, and shared by all
// callers that ask at this moment: the table of a large job takes long to make.
class Moment {
 public:
  explicit Moment(std::function<JobStatus()> find) : find_(std::move(find)) {}

  const JobStatus& status();
  const std::string& ranks();  // The rank table as JSON.

 private:
  std::function<JobStatus()> find_;
  std::optional<JobStatus> status_;
  std::optional<std::string> ranks_;
};

// The names by which callers may address this host, besides addresses and "localhost".
struct OwnNames {
  std::string full;                 // The host's name, or its beginning up to a dot.
  std::vector<std::string> of_job;  // The names that the job has for the host.
};

// Returns the whole response. Requires that `reading` is not incomplete. `moment` is made only if
// the answer needs it.
std::string answer(const HttpReading& reading, const OwnNames& names, Moment& moment);

}  // namespace rota::launcher
