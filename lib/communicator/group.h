// The state of a communicator's group: its ranks, its transport, and its methods.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rota/rank_table.h>

#include "auth/key.h"
#include "base/domains.h"
#include "base/port_range.h"
#include "base/time.h"
#include "collectives/running.h"
#include "communicator/membership.h"
#include "communicator/tuned_table.h"
#include "transport/transport.h"

namespace rota {

// The deadline of one collective if nothing else is set.
inline constexpr std::chrono::seconds kUsualDeadline{60};

struct Group {
  // Name in the job: "0.2" is the second group made from "0". split() also adds the color: "0.2/7".
  std::string name = "0";
  std::size_t rank = 0;
  RankTable table;                         // Never empty.
  std::vector<std::size_t> members;        // Index = rank in the group; value = rank in the job.
  base::Domains domains;                   // Which ranks share memory. They fit the transport.
  auth::Key key;                           // For connections between ranks over tcp.
  bool encrypts = false;                   // Whether these connections are encrypted.
  std::optional<base::PortRange> ports{};  // Groups made from this one listen there.
  base::Duration deadline{0};
  bool may_spin = false;
  bool verbose = false;                             // Rank 0 prints the chosen plans, and why.
  std::shared_ptr<const TunedTable> tuned;          // Null: the default table chooses plans.
  std::shared_ptr<Membership> membership;           // Null in a world of one without a launcher.
  std::unique_ptr<transport::Transport> transport;  // Null in a world of one.
  // Methods to run operations; with_own_methods() adds rota's.
  std::vector<std::unique_ptr<collectives::Method>> methods;

  std::size_t world_size() const noexcept { return table.rows.size(); }
};

}  // namespace rota
