// Chooses the MPI server. Without one, each rank would be an MPI world of one.
#include "launcher/ranks/mpi_service.h"

#include "launcher/mpi/pmi/pmi_server.h"

namespace rota::launcher {

bool has_mpi_server(MpiKind kind) {
  return kind == MpiKind::kPmi || (kind == MpiKind::kPmix && PmixCompanion::is_installed());
}

std::string why_no_mpi_server(MpiKind kind) {
  return kind == MpiKind::kPmix ? ". " + PmixCompanion::absence() : "";
}

std::unique_ptr<MpiServer> make_mpi_server(const MpiPlan& plan, const HostAssignment& assignment,
                                           const PmixCompanion::Surroundings& surroundings) {
  switch (plan.kind) {
    case MpiKind::kNone:
      return nullptr;
    case MpiKind::kPmi:
      return std::make_unique<PmiServer>(plan, assignment);
    case MpiKind::kPmix:
      return std::make_unique<PmixCompanion>(plan, assignment, surroundings);
  }
  return nullptr;
}

}  // namespace rota::launcher
