// What a transport does that says nothing else.
#include "transport/transport.h"

#include "transport/fabric.h"

namespace rota::transport {

std::unique_ptr<Fabric> Transport::found(const Site&) {
  throw Error(ErrorCode::kInvalidArgument,
              "over this transport there are no further groups: neither split() nor for_threads()");
}

}  // namespace rota::transport
