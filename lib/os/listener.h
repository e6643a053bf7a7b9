// Makes listening sockets, and reserves ports for a process that listens there later.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <rota/error.h>

#include "os/address.h"
#include "os/fd.h"

namespace rota::os {

// Another socket has the address. The code is kSystem.
class AddressInUse : public Error {
 public:
  explicit AddressInUse(const std::string& what) : Error(ErrorCode::kSystem, what) {}
};

struct Listener {
  Fd socket;            // Bound, listening, non-blocking, closed on exec.
  std::string address;  // "127.0.0.1:41234"
};

// Listens at `address`. For port 0, the system picks a port. With "[::]", the socket listens on
// every interface, for both families when the system has both. Throws Error kSystem: AddressInUse
// if the address is in use.
Listener listen_on(const Address& address);
Listener listen_on_loopback();

// Listens at "host:port" as a person wrote it. A numeric host selects its interface, and
// "localhost" selects the loopback interface. Any other name means every interface: perhaps no
// interface has the address of the name, or other hosts know this host by another address. Throws
// what listen_on() throws.
Listener listen_at(const std::string& address);

// The ports that listen_between() has passed over.
struct PassedPorts {
  std::string trouble;     // Why the last of them was of no use; empty if there are none.
  bool is_in_use = false;  // A process listens at one of them, or has claimed it.
};

// Listens at the host of `address`, at the first port from `first` to `last` at which no process
// listens, and which no process has claimed. Returns nothing if there is none. Adds the ports that
// were of no use to `passed`.
std::optional<Listener> listen_between(const std::string& address, unsigned first, unsigned last,
                                       PassedPorts& passed);

// Claims a port of this host on which no process listens. Returns nothing when a process listens
// there or has claimed the port. The port itself stays free, so that the process that gets its
// number can listen there. The claim counts for all processes that call this function, of any user.
// The claim ends when the returned descriptor is closed. Throws Error kSystem when the port cannot
// be checked: no socket can be made, or this user may not listen at the port.
std::optional<Fd> claim_port(std::uint16_t port);

}  // namespace rota::os
