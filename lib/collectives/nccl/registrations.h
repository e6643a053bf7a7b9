// Registers memory with a communicator of NCCL, which then may move values without copies of its
// own.
//
// NCCL must hear that memory is freed before it is freed. So only memory that rota has allocated is
// registered: rota keeps it until NCCL has heard. A program frees its own memory without a word.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include <rota/nccl_calls.h>

#include "device/owned.h"

namespace rota::collectives::nccl {

// The communicator must have no operation under way when these functions are called. Only one
// thread at a time may use the object.
class Registrations {
 public:
  // `calls` must have the functions.
  explicit Registrations(const rota::nccl::Calls& calls) noexcept : calls_(calls) {}

  // Registers the whole memory that an address lies in, once. Does nothing if rota has not
  // allocated it. Returns an error code of NCCL.
  int add(rota::nccl::Handle comm, const void* address);

  // Deregisters memory that the program has given up. The device gets it back when the program next
  // allocates or frees memory of a device. Never waits.
  void end_unused(rota::nccl::Handle comm) noexcept;
  // Deregisters all. The device gets the memory back when this object is destroyed.
  void end_all(rota::nccl::Handle comm) noexcept;

  // Keeps the memory until the process ends.
  void keep_for_ever() noexcept;

 private:
  struct Registered {
    std::shared_ptr<const device::OwnedMemory> memory;
    rota::nccl::Handle registration = 0;  // 0: NCCL has no use for it.
  };

  void end(rota::nccl::Handle comm, Registered& each) const noexcept;

  const rota::nccl::Calls& calls_;
  std::vector<Registered> all_;
};

}  // namespace rota::collectives::nccl
