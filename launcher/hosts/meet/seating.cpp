// What a host prepares for its ranks before they start.
#include "launcher/hosts/meet/seating.h"

#include <algorithm>
#include <utility>

#include <rota/error.h>

#include "base/transports.h"
#include "launcher/hosts/meet/meeting.h"
#include "launcher/plan/file_need.h"
#include "launcher/plan/topology.h"
#include "os/listener.h"
#include "os/shared_memory.h"

namespace rota::launcher {
namespace {

// The first one is the leader's launcher's, on whichever host that is.
std::vector<os::Listener> listen_in(const PortRange& ports, const std::string& address,
                                    std::size_t count) {
  std::vector<os::Listener> listeners;
  std::string trouble;
  for (std::size_t port = ports.first + 1U; port <= ports.last && listeners.size() < count;
       ++port) {
    try {
      // Another rotarun may have told its ranks that it is theirs.
      if (!os::claim_port(static_cast<std::uint16_t>(port))) continue;
      listeners.push_back(
          os::listen_on(os::parse_address(with_brackets(address) + ":" + std::to_string(port))));
    } catch (const Error& error) {
      trouble = error.what();  // In use, most likely: so is the next one tried.
    }
  }
  if (listeners.size() == count) return listeners;
  throw Error(ErrorCode::kSystem, "the ports " + std::to_string(ports.first + 1) + " to " +
                                      std::to_string(ports.last) + " of " + address +
                                      " have room for " + std::to_string(listeners.size()) +
                                      " of the " + std::to_string(count) + " ranks of this host" +
                                      (trouble.empty() ? "" : ", the last trouble: " + trouble) +
                                      "; give others by --ports");
}

void require_groups(const Share& share, const Options& options) {
  const auto is_here = [&](std::size_t group) { return group < options.groups.size(); };
  if (std::ranges::all_of(share.groups, is_here) && std::ranges::all_of(share.evaluators, is_here))
    return;
  throw UsageError("host 0 has more programs on its command line than there are here: " +
                   std::to_string(options.groups.size()) +
                   ", so give the same command on every host");
}

std::vector<os::Fd> open_arenas(const std::vector<std::string>& paths) {
  std::vector<os::Fd> arenas;
  try {
    for (const std::string& path : paths) arenas.push_back(os::open_shared_memory(path));
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) +
                                  ": there the ranks of this machine share memory; --transport "
                                  "tcp does without");
  }
  return arenas;
}

// A rank that is alone on its machine has nobody to share memory with.
Loan make_loan(const Part& part, const Share& share, std::vector<os::Listener> listeners) {
  Loan loan = base::listens(share.transport) ? Loan::of_listeners(std::move(listeners))
                                             : Loan(share.ranks.size());
  if (!share.arenas.empty()) {
    loan.add_arenas(open_arenas(share.arenas));
  } else if (base::sharing_over(share.transport) != base::Sharing::kNone &&
             share.ranks.size() > 1) {
    loan.add_arenas(size_arena(part.facts, share.ranks.size()));
  }
  return loan;
}

}  // namespace

Seating take_seats(const Part& part, Share share, const std::string& address) {
  require_groups(share, part.options);
  const Slots slots = slots_of(part.options, part.facts);
  const std::size_t count = share.ranks.size();
  const Binding binding = binding_rules(part.options);
  const std::size_t count_here = count + share.other_count;
  std::vector<Core> cores;
  if (binding.bind_to != BindTo::kNone && count > 0) {
    cores = limit_cores(read_topology(part.facts.allowed_cpus), slots.cpu_count);
  }
  if (count > 0) {
    const std::vector<Cpus> places = place_ranks(cores, count_here, binding);
    const auto own = places.begin() + static_cast<std::ptrdiff_t>(share.earlier_count);
    share.places.assign(own, own + static_cast<std::ptrdiff_t>(count));
  }
  const bool listens = base::listens(share.transport);
  std::vector<os::Listener> listeners = listen_in(part.options.ports, address, listens ? count : 0);
  Seating seating{.share = std::move(share),
                  .seats = {.may_spin = count_here <= slots.cpu_count},
                  .loan = Loan(count),
                  .provision = {}};
  seating.provision =
      provide(part.options, part.context.environment, seating.share, slots.cpu_count);
  const std::string lack =
      lack_of_files(files_needed(seating.share, part.options), part.facts.open_files);
  if (!lack.empty()) seating.provision.warnings.push_back(lack);
  const std::string cpu_lack = lack_of_cpu(count_here, part.facts.cpu_quota, part.facts.is_pod);
  if (!cpu_lack.empty()) seating.provision.warnings.push_back(cpu_lack);
  for (std::size_t local = 0; local < count; ++local) {
    seating.seats.addresses.push_back(listens ? listeners[local].address : "");
    seating.seats.cores.push_back(to_text(seating.share.places[local]));
  }
  seating.seats.devices = seating.provision.visible_devices;
  seating.seats.free = {.address = address, .ports = seating.provision.ports.ports};
  seating.loan = make_loan(part, seating.share, std::move(listeners));
  return seating;
}

}  // namespace rota::launcher
