// The pure functions behind make_plan, one a file.
#pragma once
#include "collectives/plan.h"

namespace rota::collectives {

Plan ring_plan(const PlanRequest& request);           // ring.cpp
Plan star_plan(const PlanRequest& request);           // star.cpp
Plan chain_plan(const PlanRequest& request);          // broadcast.cpp
Plan dissemination_plan(const PlanRequest& request);  // barrier.cpp

}  // namespace rota::collectives
