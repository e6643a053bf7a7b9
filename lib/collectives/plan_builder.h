// Collects the steps of a plan in the order in which its author thinks of them, and derives what
// each has to wait for.
#pragma once
#include <cstddef>
#include <vector>

#include "collectives/plan.h"

namespace rota::collectives {

class PlanBuilder {
 public:
  enum class Empty { kSkip, kKeep };

  // Steps on chunks without elements are dropped (every rank drops the same ones), or kept as bare
  // messages where the message itself is the point.
  PlanBuilder(const PlanRequest& request, std::vector<Slice> chunks, Empty empty = Empty::kSkip);

  void send(std::size_t peer, std::size_t chunk);
  void receive(std::size_t peer, std::size_t chunk);
  void reduce(std::size_t peer, std::size_t chunk, bool last);

  Plan build();

 private:
  struct Mark {  // "Once `lane` has finished `count` steps."
    std::uint32_t lane = 0;
    std::uint32_t count = 0;
  };
  std::size_t lane_to(std::size_t peer, bool sends);
  void add(std::size_t lane, Step step, Mark after);

  Plan plan_;
  Empty empty_;
  std::vector<std::vector<Step>> lane_steps_;
  std::vector<Mark> written_;  // Per chunk: by the last step that wrote it.
  std::vector<Mark> touched_;  // Per chunk: by the last step that wrote or sent it.
};

}  // namespace rota::collectives
