// What a host prepares for its ranks before they start.
#include "launcher/hosts/seating.h"

#include <numeric>
#include <utility>

#include <rota/error.h>

#include "launcher/topology.h"
#include "os/listener.h"

namespace rota::launcher {
namespace {

std::string with_brackets(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

std::vector<os::Listener> listen_in(const Ports& ports, const std::string& address,
                                    std::size_t count) {
  std::vector<os::Listener> listeners;
  std::string trouble;
  for (std::size_t port = ports.first + 1U; port <= ports.last && listeners.size() < count;
       ++port) {
    try {
      listeners.push_back(
          os::listen_on(os::parse_address(with_brackets(address) + ":" + std::to_string(port))));
    } catch (const Error& error) {
      trouble = error.what();  // In use, most likely: so is the next one tried.
    }
  }
  if (listeners.size() == count) return listeners;
  throw Error(ErrorCode::kSystem,
              "the ports " + std::to_string(ports.first + 1) + " to " + std::to_string(ports.last) +
                  " of " + address + " have room for " + std::to_string(listeners.size()) +
                  " of the " + std::to_string(count) +
                  " ranks of this host; the last trouble: " + trouble + "; give others by --ports");
}

}  // namespace

std::vector<Assignment> assign_ranks(const Options& options,
                                     const std::vector<std::size_t>& slots) {
  const std::size_t room = std::accumulate(slots.begin(), slots.end(), std::size_t{0});
  const std::size_t count = options.rank_count.value_or(room);
  if (count > room) {
    throw UsageError("--np " + std::to_string(count) + ": the hosts have " + std::to_string(room) +
                     " slots");
  }
  std::vector<Assignment> assignments(slots.size(), {.world_size = count});
  std::size_t rank = 0;
  for (std::size_t host = 0; host < slots.size(); ++host) {
    for (std::size_t local = 0; local < slots[host] && rank < count; ++local) {
      assignments[host].ranks.push_back(rank++);
    }
  }
  return assignments;
}

Seating take_seats(const Options& options, const Facts& facts, const Assignment& assignment,
                   const std::string& address) {
  const Slots slots = count_slots(facts.allowed_cpus.size(), facts.cpu_quota);
  const std::size_t count = assignment.ranks.size();
  const BindTo bind_to = binding_of(options);
  std::vector<Core> cores;
  if (bind_to != BindTo::kNone) {
    cores = limit_cores(read_topology(facts.allowed_cpus), slots.count);
  }
  Seating seating{.share = {.ranks = assignment.ranks,
                            .places = place_ranks(cores, count, bind_to, options.map_by),
                            .world_size = assignment.world_size},
                  .seats = {.may_spin = count <= slots.count},
                  .loan = Loan(count)};
  std::vector<os::Listener> listeners = listen_in(options.ports, address, count);
  for (std::size_t local = 0; local < count; ++local) {
    seating.seats.addresses.push_back(listeners[local].address);
    seating.seats.cores.push_back(to_text(seating.share.places[local]));
  }
  seating.loan = Loan::of_listeners(std::move(listeners));
  return seating;
}

}  // namespace rota::launcher
