// What a host prepares for its ranks before they start: where they listen, and their cores.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "launcher/hosts/dispatch.h"
#include "launcher/job_plan.h"
#include "launcher/loan.h"
#include "launcher/local_ranks.h"
#include "launcher/options.h"

namespace rota::launcher {

// Which ranks each host has, where they have so many slots. Throws UsageError.
std::vector<Assignment> assign_ranks(const Options& options, const std::vector<std::size_t>& slots);

struct Seating {
  Share share;
  Seats seats;
  Loan loan;
};

// `address` is the number by which the other hosts reach this one: "10.0.0.1", "fd00::1". The
// ranks listen at free ports of the range, past its first one, which is the launcher's own. Throws
// UsageError, Error kSystem.
Seating take_seats(const Options& options, const Facts& facts, const Assignment& assignment,
                   const std::string& address);

}  // namespace rota::launcher
