// Maps the arenas and finds control page and mailboxes in them.
#include "transport/shm/domain.h"

#include <string>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"

namespace rota::transport::shm {

Domain::Domain(std::vector<os::Fd> arenas) {
  mappings_.reserve(arenas.size());
  for (os::Fd& arena : arenas) {
    mappings_.emplace_back(std::move(arena));
    if (mappings_.back().bytes().size() <= front_bytes(arenas.size())) {
      throw Error(ErrorCode::kInvalidArgument,
                  "a shared arena of " + std::to_string(mappings_.back().bytes().size()) +
                      " bytes is too small for " + std::to_string(arenas.size()) + " ranks");
    }
  }
}

// The pages start as zeros, which is the state that both structures begin with.
ControlPage& Domain::control() const noexcept {
  return *reinterpret_cast<ControlPage*>(mappings_[0].bytes().data());
}

Mailbox& Domain::mailbox(std::size_t from, std::size_t to) const noexcept {
  return reinterpret_cast<Mailbox*>(mappings_[from].bytes().data() + kPage)[to];
}

std::shared_ptr<memory::Arena> open_arena(const std::shared_ptr<Domain>& domain, std::size_t rank) {
  ROTA_ASSERT(rank < domain->world_size());
  const std::size_t front = front_bytes(domain->world_size());
  domain->mapping(rank).reserve(0, front);
  return std::make_shared<memory::Arena>(domain->mapping(rank), front, domain);
}

}  // namespace rota::transport::shm
