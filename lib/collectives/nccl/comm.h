// Owns a rank's communicator of NCCL: creates it with the first operation, and ends it within a
// deadline. NCCL itself has no deadlines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <rota/nccl_calls.h>

#include "base/time.h"
#include "collectives/nccl/registrations.h"
#include "device/arrivals.h"
#include "device/stream.h"

namespace rota::collectives::nccl {

// What a rank needs to create a communicator of NCCL.
struct CommSetup {
  rota::nccl::Id id{};
  std::size_t rank = 0;
  std::size_t world_size = 1;
  std::string who;             // Such as "rank 3 (host)".
  base::Duration deadline{0};  // Of the group's collectives.
  bool registers = false;      // See CommunicatorOptions::registers_buffers.
};

// One operation at a time uses the communicator. Only one thread at a time may use a Comm.
class Comm {
 public:
  Comm(const rota::nccl::Calls& calls, CommSetup setup);
  // Ends the communicator. If NCCL cannot do that in time, aborts it as stop() does.
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  const rota::nccl::Calls& calls() const noexcept { return calls_; }
  std::size_t rank() const noexcept { return setup_.rank; }
  std::size_t world_size() const noexcept { return setup_.world_size; }
  bool registers() const noexcept { return setup_.registers; }
  rota::nccl::Handle handle() const noexcept { return handle_; }
  // Requires an earlier is_ready().
  const cuda::On& on() const noexcept { return stream_->on(); }

  // In these functions, `call` is the name of the collective, for the text of an Error: all_reduce.
  //
  // Returns whether the communicator can take a call. The first time, begins to create the
  // communicator on this device; all later calls must be for the same device. Never waits. Throws
  // Error kSystem, kPeerLost, kInvalidArgument.
  bool is_ready(std::uint8_t device, std::string_view call);

  // Throws the Error of a call that has failed.
  void check(int error, std::string_view call) const;

  // Registers the memory of an address, if that was asked for and NCCL can do it. Requires that
  // is_ready() has returned true since the last call of NCCL. Throws Error kSystem.
  void register_memory(const void* address, std::string_view call);
  // Deregisters what the program has given up. Requires the same.
  void deregister_unused() noexcept;

  // Lets what is put on the stream from now on wait for work of the program. Throws Error kSystem.
  void wait_for(const device::Arrivals& arrivals) { arrivals.hold(*stream_); }

  // Lets has_ended() be true once all that is on the stream now has ended. Throws Error kSystem.
  void record() { stream_->record(*ended_); }
  // Throws the Error that NCCL or the device has found since the last call.
  bool has_ended(std::string_view call) const;

  // Aborts the communicator, after the group has failed. Waits for NCCL, but not for ever: after 10
  // s or the group's deadline, whichever is less, says so and ends the process.
  void stop() noexcept { stop(is_created_); }
  // Returns whether operations may still use their buffers, after stop().
  bool is_loose() const noexcept { return is_loose_; }

 private:
  void create(std::uint8_t device);
  void end_in_order();
  void stop(bool may_revoke) noexcept;
  void abort(bool may_revoke);
  std::string text_of_end(const char* verb, base::Duration longest) const;
  bool settles_within(base::Duration longest) const;
  bool is_idle_within(base::Duration longest);
  base::Duration longest_end() const noexcept;

  const rota::nccl::Calls& calls_;
  CommSetup setup_;
  std::uint8_t device_ = 0;
  rota::nccl::Handle handle_ = 0;
  std::unique_ptr<device::Stream> stream_;  // Null before the creation.
  std::unique_ptr<device::Event> ended_;
  Registrations registrations_;
  bool is_created_ = false;  // NCCL has said that the creation is over.
  bool is_stopped_ = false;
  bool is_loose_ = false;
};

}  // namespace rota::collectives::nccl
