// What a host prepares for its ranks before they start: where they listen, and their cores.
#pragma once
#include <string>

#include "launcher/hosts/meet/part.h"
#include "launcher/hosts/wire/dispatch.h"
#include "launcher/ranks/loan.h"
#include "launcher/ranks/provision.h"

namespace rota::launcher {

struct Seating {
  Share share;
  Seats seats;
  Loan loan;
  Provision provision;
};

// `address` is the number by which the other hosts reach this one: "10.0.0.1", "fd00::1". The
// ranks listen at free ports of the range, past its first one, which is the launcher's own. Throws
// UsageError, Error kSystem.
Seating take_seats(const Part& part, Share share, const std::string& address);

}  // namespace rota::launcher
