// Chooses the MPI server of this host by the MPI of the job.
#pragma once
#include <memory>
#include <string>

#include "launcher/mpi/mpi_plan.h"
#include "launcher/mpi/mpi_server.h"
#include "launcher/mpi/pmix/pmix_companion.h"
#include "launcher/plan/host_assignment.h"

namespace rota::launcher {

// Returns whether rotarun can serve an MPI of this kind here.
bool has_mpi_server(MpiKind kind);

// Returns the end of a sentence that says what is missing; empty if nothing can be done about it.
std::string why_no_mpi_server(MpiKind kind);

// Makes the server of this host; null for kNone. Throws Error kSystem.
std::unique_ptr<MpiServer> make_mpi_server(const MpiPlan& plan, const HostAssignment& assignment,
                                           const PmixCompanion::Surroundings& surroundings);

}  // namespace rota::launcher
