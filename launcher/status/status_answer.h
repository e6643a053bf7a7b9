// What a status port answers: a pure function of the request and of the job.
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

// Who is not there, in a sentence; empty where the world is complete. A rank is there from its
// start until it fails.
std::string absence_text(const JobStatus& status);

// What is told of the job at one moment. It is found out when the first asks for it, and whoever
// asks then gets the same: the table of a large job is long to make.
class Moment {
 public:
  explicit Moment(std::function<JobStatus()> find) : find_(std::move(find)) {}

  const JobStatus& status();
  const std::string& ranks();  // As JSON.

 private:
  std::function<JobStatus()> find_;
  std::optional<JobStatus> status_;
  std::optional<std::string> ranks_;
};

// By which this host is asked, beside numbers and "localhost".
struct OwnNames {
  std::string full;                 // Its own; what stands before a dot in it is one as well.
  std::vector<std::string> of_job;  // What the job calls it.
};

// The whole response. Requires a reading that is not incomplete; `moment` is asked only where the
// answer has something of it.
std::string answer(const HttpReading& reading, const OwnNames& names, Moment& moment);

}  // namespace rota::launcher
