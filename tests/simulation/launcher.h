// The launcher of a simulated job: the real coordinator, with which ranks talk over lines that take
// their time.
#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rendezvous/coordinator.h"
#include "rendezvous/line.h"
#include "simulation/random.h"
#include "simulation/scheduler.h"
#include "simulation/shared_memory_model.h"

namespace rota::simulation {

class Launcher {
 public:
  Launcher(Scheduler& scheduler, SharedMemoryModel& memory, Random& random,
           const rendezvous::Job& job);

  std::unique_ptr<rendezvous::Line> line_of(std::size_t rank);

  // The rank's process has ended.
  void on_end(std::size_t rank, const std::string& how);

 private:
  class Line;

  struct Letter {
    base::TimePoint arrives;
    std::size_t rank = 0;
    std::vector<std::byte> bytes;  // Empty: its process has ended, as `text` says.
    std::string text;
    View known{};  // What its sender knew of memory: messages order that, too.
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
  std::vector<std::deque<Letter>> outboxes_;  // By rank.
};

}  // namespace rota::simulation
