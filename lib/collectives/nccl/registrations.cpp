// Owns memory together with the blocks of the program, so a block that is destroyed does not free
// it.
#include "collectives/nccl/registrations.h"

#include <algorithm>
#include <utility>

#include "memory/kept.h"

namespace rota::collectives::nccl {

int Registrations::add(rota::nccl::Handle comm, const void* address) {
  auto memory = device::find_owned(address);
  if (!memory || std::ranges::find(all_, memory, &Registered::memory) != all_.end()) return 0;
  all_.push_back({.memory = std::move(memory)});  // First: it may throw.
  Registered& added = all_.back();
  const DeviceSpan<std::byte> bytes = added.memory->bytes();
  const int error = calls_.register_memory(comm, bytes.address(), bytes.size(), added.registration);
  if (error != 0) all_.pop_back();
  return error;
}

void Registrations::end_unused(rota::nccl::Handle comm) noexcept {
  for (Registered& each : all_) {
    if (!each.memory->is_given_up()) continue;
    end(comm, each);
    device::keep_for_now(std::move(each.memory));
  }
  std::erase_if(all_, [](const Registered& each) { return !each.memory; });
}

void Registrations::end_all(rota::nccl::Handle comm) noexcept {
  for (Registered& each : all_) end(comm, each);
}

// If this fails, NCCL has printed why, and ends the registration with the communicator.
void Registrations::end(rota::nccl::Handle comm, Registered& each) const noexcept {
  const rota::nccl::Handle registration = std::exchange(each.registration, 0);
  if (registration != 0) calls_.deregister_memory(comm, registration);
}

void Registrations::keep_for_ever() noexcept {
  for (Registered& each : all_) memory::keep_for_ever(std::move(each.memory));
  all_.clear();
}

}  // namespace rota::collectives::nccl
