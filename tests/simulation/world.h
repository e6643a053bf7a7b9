// A world that a seed has drawn: real communicators, each on a simulated thread, over simulated
// memory, sockets, MPI, devices, clock and launcher. Reports what its ranks found. The simulation
// leaves out the progress thread, split groups, the error feedback of codecs, streams of programs,
// and reads that a processor performs after a later store of the same thread.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rota/communicator.h>
#include <rota/device_memory.h>
#include <rota/error.h>

#include "communicator/membership.h"
#include "simulation/coverage.h"
#include "simulation/launcher.h"
#include "simulation/machine.h"
#include "simulation/oracle.h"
#include "simulation/scenario.h"
#include "simulation/simulated_devices.h"
#include "simulation/simulated_mpi.h"
#include "transport/transport.h"

namespace rota::simulation {

class World {
 public:
  explicit World(const Scenario& scenario);

  // Runs the world to its end. Returns what is wrong, one line each; nothing if all is right.
  std::vector<std::string> run(Coverage& coverage);

  // Ranks call the functions below.
  const Scenario& scenario() const noexcept { return scenario_; }
  Scheduler& scheduler() noexcept { return scheduler_; }
  // Requires a rank whose values are on a device.
  testing::FakeDevice& device() noexcept { return devices_->fake(); }
  void report(const std::string& finding) { findings_.push_back(finding); }
  void note_failure(std::size_t rank);
  void begin(std::size_t rank, const std::vector<Call>& batch) { under_way_[rank] = &batch; }
  void begin_last(std::size_t rank) { under_way_[rank] = &kLast; }
  // Records that a rank has come to a call. All ranks must come before any rank passes a barrier.
  void note_come(std::size_t number) { ++come_[number]; }
  bool have_all_come(std::size_t number) { return come_[number] == scenario_.world_size(); }
  // Returns whether `result` equals the result of other ranks. Ranks with the whole result must
  // agree.
  bool agrees(std::size_t number, const std::vector<std::byte>& result);
  // Keeps a rank's memory until the world has ended.
  void keep(Block shared, std::vector<std::byte> heap, DeviceBlock device) {
    kept_.push_back({std::move(shared), std::move(heap), std::move(device)});
  }
  void end(std::size_t rank, std::optional<Error> error);

 private:
  // The last call of all ranks. No rank completes it without the others.
  inline static const std::vector<Call> kLast{{.kind = Kind::kBarrier}};

  std::vector<std::unique_ptr<transport::Transport>> make_transports();
  std::vector<Communicator> make_communicators_over_mpi(
      const CommunicatorOptions& options, std::vector<std::shared_ptr<Membership>> memberships);
  std::vector<Communicator> make_communicators();
  void before_act();
  int before_device_call();

  struct Kept {
    Block shared;
    std::vector<std::byte> heap;
    DeviceBlock device;
  };

  const Scenario& scenario_;
  Random random_;
  Scheduler scheduler_;
  SharedMemoryModel memory_;
  Streams streams_;
  Machine machine_;
  std::optional<Launcher> launcher_;
  std::optional<SimulatedMpi> mpi_;                  // Only if the ranks use MPI.
  std::optional<SimulatedDevices> devices_;          // Only if some ranks use devices.
  std::shared_ptr<Board> board_;                     // Null if there is a launcher.
  std::uint64_t act_count_ = 0;                      // Acts of the rank that is to fail.
  std::vector<const std::vector<Call>*> under_way_;  // Index = rank.
  std::map<std::size_t, std::size_t> come_;  // Key: number of the call; value: number of ranks.
  std::map<std::size_t, std::vector<std::byte>> results_;
  std::vector<Kept> kept_;
  bool is_faulted_ = false;  // The device of the rank that is to fail.
  Ending ending_;
  std::vector<std::string> findings_;
  std::bitset<kKinds> failed_in_;  // The kinds of calls that the failed rank was in.
};

}  // namespace rota::simulation
