// Which host has which ranks, as far as this one needs to know: of itself and of those below it. A
// machine without a clock or a socket.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "launcher/hosts/meet/meeting.h"
#include "launcher/hosts/wire/dispatch.h"

namespace rota::launcher {

class Routes {
 public:
  // `meeting` outlives it.
  Routes(const Meeting& meeting, std::size_t own_host);

  // Takes the shares of this host and of all below it, and says what of them each host that calls
  // is to get.
  std::map<std::size_t, std::vector<HostText>> assign(const std::vector<HostText>& shares);

  std::uint32_t world() const noexcept { return world_; }  // Its number; 0 before the first one.
  std::size_t world_size() const noexcept { return world_size_; }
  std::size_t host_of(std::size_t rank) const { return host_of_rank_.at(rank); }
  std::size_t rank_count(std::size_t host) const;
  std::size_t evaluator_count(std::size_t host) const;

  // Whether a host is the one that calls, or below it; and whether it has the rank.
  bool is_part_of(std::size_t host, std::size_t child) const;
  bool has_rank(std::size_t child, std::size_t rank) const;

  // The one that calls us, on the way to a rank; empty where it is not below.
  std::optional<std::size_t> child_toward_rank(std::size_t rank) const;

  // Of a host and of all below it.
  std::vector<std::size_t> ranks_of(std::size_t host) const;

 private:
  const Meeting& meeting_;
  std::size_t own_host_;
  std::uint32_t world_ = 0;
  std::size_t world_size_ = 0;
  std::map<std::size_t, std::size_t> host_of_rank_;
  std::map<std::size_t, std::size_t> rank_counts_;       // By host.
  std::map<std::size_t, std::size_t> evaluator_counts_;  // The same.
};

}  // namespace rota::launcher
