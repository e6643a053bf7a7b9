// What a status port answers: a pure function of the request and of the job.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <rota/rank_table.h>

#include "launcher/http_request.h"
#include "launcher/table_json.h"

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

// The whole response. Requires a reading that is not incomplete; `status` is asked for only where
// the answer has something of it.
std::string answer(const HttpReading& reading, const std::function<JobStatus()>& status);

}  // namespace rota::launcher
