// Runs collectives of NCCL's own on values of a device. What an operation uses is its communicator,
// so one of them runs at a time. The bits are those of NCCL.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <rota/device_memory.h>

#include "collectives/nccl/comm.h"
#include "collectives/nccl/posted_signatures.h"
#include "collectives/operation.h"
#include "collectives/running.h"

namespace rota::collectives::nccl {

// What all operations of a group use.
struct Resources {
  Comm comm;
  std::optional<PostedSignatures> signatures{};  // Empty if the ranks do not share memory.
  std::uint64_t number = 0;                      // Of the latest operation.
  // For calls whose buffers are not registered with NCCL, and for those whose buffers are. In each,
  // the last block is the largest.
  std::array<std::vector<DeviceBlock>, 2> scratch{};
};

class NcclRun final : public Running {
 public:
  NcclRun(Resources& resources, std::size_t first_stream) noexcept
      : resources_(resources), stream_(first_stream) {}

  void add_streams(const Operation&, Streams& streams) const noexcept override {
    streams.add(stream_);
  }
  void start(const Operation& operation) override;
  Turn step() override;
  // NCCL does not tell which rank is missing.
  std::optional<Wait> waiting() const noexcept override;
  void compare_with(std::size_t peer) const override;
  std::string_view keeps_buffers() const noexcept override {
    return operation_ && comm().is_loose() ? "NCCL" : "";
  }

 private:
  enum class Stage : std::uint8_t { kWaits, kBegun, kRuns };

  Comm& comm() const noexcept { return resources_.comm; }
  const Description& call() const noexcept { return operation_->planned->call; }
  bool is_root() const noexcept { return call().root == comm().rank(); }
  std::size_t part_count() const noexcept { return call().count / comm().world_size(); }
  std::byte* values() const noexcept;
  const std::byte* input() const noexcept;
  std::size_t bytes_of_count(std::size_t count) const noexcept;
  std::string_view name() const noexcept { return to_string(call().collective); }

  void begin();
  void register_buffers() const;
  int begin_collective();
  int begin_group_of_parts();
  int begin_exchange();
  int exchange_with(std::size_t peer, const std::byte* from);
  template <class Calls>
  int in_group(Calls calls) const;
  rota::nccl::Job job_of(const std::byte* from, std::byte* to, std::size_t count) const noexcept;
  const std::byte* contribution();
  std::byte* scratch(std::size_t bytes);
  void copy(std::byte* to, const std::byte* from, std::size_t count) const;
  void scale(std::byte* values, std::size_t count, double factor) const;
  void scale_to_means() const;
  template <class Do>
  void for_each_part(Do each) const;

  Resources& resources_;
  std::size_t stream_;
  const Operation* operation_ = nullptr;  // Null unless one is under way.
  std::uint64_t number_ = 0;
  Stage stage_ = Stage::kWaits;
};

// Makes the name of a communicator. A rank of the group must call it and give it to the others.
// Throws Error kSystem.
rota::nccl::Id make_id(const rota::nccl::Calls& calls);

// The method for NCCL's collectives on all ranks of a group. All ranks of the group must have the
// same NCCL.
class NcclCollectives final : public Method {
 public:
  // `memory`: null if the ranks do not share memory.
  NcclCollectives(const rota::nccl::Calls& calls, CommSetup setup, transport::SharedMemory* memory);

  bool makes(Algorithm algorithm) const noexcept override { return algorithm == Algorithm::kNccl; }
  bool takes(MemoryKind memory) const noexcept override { return !memory.is_host(); }
  std::string_view why_not(const Description& call) const noexcept override;
  std::span<const std::byte> memory_of_parts(std::size_t bytes) const noexcept override;
  bool host_reads_values() const noexcept override { return false; }
  std::size_t stream_count() const noexcept override { return 1; }
  bool starts_in_order() const noexcept override { return true; }  // NCCL matches calls by order.
  std::unique_ptr<Running> make_place(std::size_t, std::size_t first_stream) override {
    return std::make_unique<NcclRun>(resources_, first_stream);
  }
  void stop() noexcept override { resources_.comm.stop(); }
  std::optional<GroupWord> make_group_word() override;
  std::unique_ptr<Method> for_group(const GroupWord& word, const NewGroup& group) const override;

 private:
  Resources resources_;
};

}  // namespace rota::collectives::nccl
