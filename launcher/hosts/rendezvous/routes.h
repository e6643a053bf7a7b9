// Routes knows which host has which ranks, for this host and all hosts below it. So a message for a
// rank reaches the rank's host. Routes is a state machine that uses neither a clock nor a socket.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "launcher/hosts/rendezvous/host_plan.h"
#include "launcher/hosts/wire/control_message.h"

namespace rota::launcher {

class Routes {
 public:
  // `host_plan` must outlive this object.
  Routes(const HostPlan& host_plan, std::size_t own_host);

  // Stores the assignments of this host and of all hosts below it. Returns, by child, the
  // assignments to send to that child.
  std::map<std::size_t, std::vector<HostText>> assign(const std::vector<HostText>& assignments);

  std::uint32_t world() const noexcept { return world_; }  // 0 before the first world.
  std::size_t world_size() const noexcept { return world_size_; }
  std::size_t host_of(std::size_t rank) const { return host_of_rank_.at(rank); }
  std::size_t rank_count(std::size_t host) const;
  std::size_t evaluator_count(std::size_t host) const;

  // is_part_of() returns whether `host` is `child` or below it. has_rank() returns whether `child`
  // or a host below it has the rank.
  bool is_part_of(std::size_t host, std::size_t child) const;
  bool has_rank(std::size_t child, std::size_t rank) const;

  // Returns the child on the way to a rank; empty if the rank is not on a host below this one.
  std::optional<std::size_t> child_toward_rank(std::size_t rank) const;

  // Returns the ranks of a host and of all hosts below it.
  std::vector<std::size_t> ranks_of(std::size_t host) const;

 private:
  const HostPlan& host_plan_;
  std::size_t own_host_;
  std::uint32_t world_ = 0;
  std::size_t world_size_ = 0;
  std::map<std::size_t, std::size_t> host_of_rank_;
  std::map<std::size_t, std::size_t> rank_counts_;       // By host.
  std::map<std::size_t, std::size_t> evaluator_counts_;  // By host.
};

}  // namespace rota::launcher
