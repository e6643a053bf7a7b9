// A world that a seed has drawn: real communicators, each on a simulated thread, over memory,
// sockets, a clock and a launcher that are simulated. Tells what its ranks found.
#pragma once
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rota/communicator.h>
#include <rota/error.h>

#include "communicator/membership.h"
#include "simulation/coverage.h"
#include "simulation/launcher.h"
#include "simulation/machine.h"
#include "simulation/oracle.h"
#include "simulation/scenario.h"
#include "transport/transport.h"

namespace rota::simulation {

class World {
 public:
  explicit World(const Scenario& scenario);

  // Runs it to its end. Returns what is wrong, a line each; nothing where all is right.
  std::vector<std::string> run(Coverage& coverage);

  // For ranks.
  const Scenario& scenario() const noexcept { return scenario_; }
  Scheduler& scheduler() noexcept { return scheduler_; }
  void report(const std::string& finding) { findings_.push_back(finding); }
  void note_failure(std::size_t rank);
  void begin(std::size_t rank, const std::vector<Call>& batch) { under_way_[rank] = &batch; }
  void begin_last(std::size_t rank) { under_way_[rank] = &kLast; }
  // A rank has come to a call. All have before any of them is past a barrier.
  void note_come(std::size_t number) { ++come_[number]; }
  bool have_all_come(std::size_t number) { return come_[number] == scenario_.world_size(); }
  // The same call has the same result on all ranks that have all of it.
  bool agrees(std::size_t number, const std::vector<std::byte>& result);
  void end(std::size_t rank, std::optional<Error> error);

 private:
  // What all do at their end, and none ends without the others.
  inline static const std::vector<Call> kLast{{.kind = Kind::kBarrier}};

  std::vector<std::unique_ptr<transport::Transport>> make_transports();
  std::vector<Communicator> make_communicators();
  void before_act();

  const Scenario& scenario_;
  Random random_;
  Scheduler scheduler_;
  SharedMemoryModel memory_;
  Streams streams_;
  Machine machine_;
  std::optional<Launcher> launcher_;
  std::shared_ptr<Board> board_;                     // Without one.
  std::uint64_t act_count_ = 0;                      // Of the rank that is to fail.
  std::vector<const std::vector<Call>*> under_way_;  // By rank.
  std::map<std::size_t, std::size_t> come_;          // By call: how many ranks.
  std::map<std::size_t, std::vector<std::byte>> results_;
  Ending ending_;
  std::vector<std::string> findings_;
  std::bitset<kKinds> failed_in_;  // What a rank that failed was in.
};

}  // namespace rota::simulation
