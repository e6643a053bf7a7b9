// The launcher of a simulated job. It has the real coordinator, and its connections to the ranks
// deliver messages late.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/connection.h"
#include "rendezvous/coordinator.h"
#include "simulation/random.h"
#include "simulation/scheduler.h"
#include "simulation/shared_memory_model.h"

namespace rota::simulation {

class Launcher {
 public:
  Launcher(Scheduler& scheduler, SharedMemoryModel& memory, Random& random,
           const rendezvous::Job& job);

  std::unique_ptr<rendezvous::Connection> line_of(std::size_t rank);

  // Called when the rank's process has ended.
  void on_end(std::size_t rank, const std::string& how);

 private:
  class Connection;

  struct Letter {
    base::TimePoint arrives;
    std::size_t rank = 0;
    std::vector<std::byte> bytes;  // Empty: the process has ended, as `text` says.
    std::string text;
    View known{};  // The sender's view of memory, which a message passes on.
  };

  base::TimePoint draw_arrival();
  void post(Letter letter);
  void take_in();
  void send_out();

  Scheduler& scheduler_;
  SharedMemoryModel& memory_;
  Random& random_;
  rendezvous::Coordinator coordinator_;
  View known_{};
  std::deque<Letter> inbox_;
  std::vector<std::deque<Letter>> outboxes_;  // Index = rank.
};

}  // namespace rota::simulation
