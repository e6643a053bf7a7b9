// A transport that lib/ knows nothing of: ranks that are threads leave letters for each other.
// Beside its folder, what a transport has is two rows, which are here.
#pragma once
#include "base/transports.h"
#include "transport/fabric.h"

namespace rota::testing {

// As in base::kTransports: its ranks share no memory, and do not listen.
inline constexpr base::TransportRow kToyRow{.name = "toy"};

// Ranks that were given one incarnation meet.
std::unique_ptr<transport::Transport> join_toy(const transport::Site& site, transport::Lent lent,
                                               const transport::CallTerms& terms,
                                               base::TimePoint deadline);

inline constexpr transport::Maker kToyMaker{"toy", join_toy};

}  // namespace rota::testing
