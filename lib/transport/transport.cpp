// Defines the default behaviour of a transport.
#include "transport/transport.h"

#include "transport/fabric.h"

namespace rota::transport {

std::unique_ptr<Fabric> Transport::group_fabric(const GroupShape&) {
  throw Error(ErrorCode::kInvalidArgument,
              "this transport allows no further groups: neither split() nor for_threads()");
}

}  // namespace rota::transport
