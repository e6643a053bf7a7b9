// Finds declarations of several hosts that no source reads. A job that ignored such a declaration
// would run on one of its hosts alone, and succeed.
#pragma once
#include <optional>
#include <string>

#include "cluster/sources.h"

namespace rota::cluster {

struct UnreadHosts {
  std::string sign;          // "AWS_BATCH_JOB_NUM_NODES is 2"
  std::string remedy;        // What to type, as part of a sentence.
  bool are_started = false;  // The system starts the program on each of these hosts.
};

// Returns what the first variable says that declares several hosts in a form that no source reads.
// Returns nothing if there is none. Throws Error kInvalidArgument if a value makes no sense.
std::optional<UnreadHosts> find_unread_hosts(const Environment& environment);

// Throws Error kInvalidArgument if a variable declares several hosts in such a form, or names a
// file of hosts that cannot be read. Call it if no source says anything.
void require_none_unread(const Given& given);

}  // namespace rota::cluster
