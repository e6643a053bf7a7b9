// Joins a job: turns a descriptor or a rank table into a connected group.
#pragma once
#include <rota/options.h>

#include "base/time.h"
#include "communicator/by_hand.h"
#include "communicator/group.h"

namespace rota {

// Returns whether this process is a world of one: there is no launcher, and no table with other
// ranks. Throws Error kInvalidArgument if the process was started as one of several, and the
// options do not ask for a world of one.
bool is_alone(const CommunicatorOptions& options);

// Throws the Errors of Communicator's constructor.
Group join(const CommunicatorOptions& options);

// Returns the group of a rank that is alone. `table` has one row.
Group world_of_one(RankTable table, const CommunicatorOptions& options);

// Joins the job of a rank that is connected to the coordinator, and connects the rank to the
// others. `table`: the rank's own table; null if only the coordinator has one. Throws as join()
// does.
Group enter(Arrival arrival, const RankTable* table, const CommunicatorOptions& options,
            base::TimePoint deadline);

}  // namespace rota
