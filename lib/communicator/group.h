// What a communicator works with: its ranks, and its own ways to them.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <rota/rank_table.h>

#include "auth/key.h"
#include "base/islands.h"
#include "base/time.h"
#include "collectives/running.h"
#include "communicator/membership.h"
#include "communicator/tuned_table.h"
#include "transport/transport.h"

namespace rota {

// Of one collective, where nobody says otherwise.
inline constexpr std::chrono::seconds kUsualDeadline{60};

struct Group {
  std::string name = "0";  // Of the communicator among those of the job: "0.2" was split off "0".
  std::size_t rank = 0;
  RankTable table;                   // Never empty.
  std::vector<std::size_t> members;  // Index = rank: the rank in the job.
  base::Islands islands;             // As the transport is.
  auth::Key key;                     // Of ranks that call each other over tcp, and
  bool encrypts = false;             // whether they encrypt what they say there.
  base::Duration deadline{0};
  bool may_spin = false;
  bool verbose = false;                             // Rank 0 says which plans are taken, and why.
  std::shared_ptr<const TunedTable> tuned;          // None: the default table chooses plans.
  std::shared_ptr<Membership> membership;           // None in a world of one without a launcher.
  std::unique_ptr<transport::Transport> transport;  // None in a world of one.
  // Ways to make operations; a communicator adds its own.
  std::vector<std::unique_ptr<collectives::Method>> methods;

  std::size_t world_size() const noexcept { return table.rows.size(); }
};

}  // namespace rota
