// A transport that lib/ does not know: its ranks are threads, which leave letters for each other. A
// transport of lib/ has a folder and two table rows; here the rows are in this file.
#pragma once
#include "base/transports.h"
#include "transport/fabric.h"

namespace rota::testing {

// A row as in base::kTransports: the ranks share no memory, and do not listen.
inline constexpr base::TransportRow kToyRow{.name = "toy"};

// Returns the transport of one rank. Ranks with the same incarnation join the same group.
std::unique_ptr<transport::Transport> join_toy(const transport::GroupShape& shape,
                                               transport::Descriptors descriptors,
                                               const transport::CallTerms& terms,
                                               base::TimePoint deadline);

inline constexpr transport::Factory kToyFactory{"toy", join_toy};

}  // namespace rota::testing
