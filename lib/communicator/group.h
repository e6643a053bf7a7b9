// Everything that joining a job yields.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>

#include <rota/rank_table.h>

#include "base/time.h"
#include "rendezvous/client.h"
#include "transport/transport.h"

namespace rota {

struct Group {
  std::size_t rank = 0;
  RankTable table;  // Never empty.
  base::Duration deadline{0};
  bool may_spin = false;
  std::unique_ptr<transport::Transport> transport;  // None in a world of one.
  std::optional<rendezvous::Client> client;         // None where no launcher is.

  std::size_t world_size() const noexcept { return table.rows.size(); }
};

}  // namespace rota
