// Finds declarations of several hosts that no source reads. A job that ignored such a declaration
// would run on one of its hosts alone, and succeed.
#pragma once
#include <string>

#include "cluster/sources.h"

namespace rota::cluster {

// Returns what the first variable says by which a system shows that it starts this program on each
// of several hosts, such as "AWS_BATCH_JOB_NUM_NODES is 2"; empty if there is none. Throws Error
// kInvalidArgument if the value of such a variable makes no sense.
std::string sign_of_started_hosts(const Environment& environment);

// Throws Error kInvalidArgument if a variable declares several hosts in a form that no source
// reads, or names a file of hosts that cannot be read. Call it if no source says anything.
void require_none_unread(const Given& given);

}  // namespace rota::cluster
