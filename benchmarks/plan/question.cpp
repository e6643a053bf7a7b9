// Makes the plan of each rank.
#include "plan/question.h"

#include <algorithm>

namespace rota::bench {

using collectives::Collective;

std::vector<collectives::Plan> plans_of(const Question& question) {
  std::vector<std::size_t> hosts;
  for (const std::string& host : question.hosts) {
    const auto first = std::ranges::find(question.hosts, host);
    hosts.push_back(static_cast<std::size_t>(first - question.hosts.begin()));
  }
  std::vector<collectives::Plan> plans;
  for (std::size_t rank = 0; rank < question.world_size; ++rank) {
    collectives::PlanRequest request{{.collective = question.collective,
                                      .algorithm = question.algorithm,
                                      .count = question.count,
                                      .root = question.root,
                                      .in_place = question.in_place},
                                     rank,
                                     question.world_size};
    request.hosts = hosts;
    plans.push_back(collectives::make_plan(request));
  }
  return plans;
}

std::vector<std::size_t> input_offsets_of(const Question& question) {
  const bool are_parts =
      question.collective == Collective::kAllGather || question.collective == Collective::kGather;
  if (!are_parts) return {};
  std::vector<std::size_t> offsets;
  for (std::size_t rank = 0; rank < question.world_size; ++rank) {
    offsets.push_back(slice_of(question.count, rank, question.world_size).offset);
  }
  return offsets;
}

std::string title_of(const Question& question) {
  std::string title(to_string(question.collective));
  title += " by " + std::string(to_string(question.algorithm)) + ": " +
           counted(question.world_size, "rank");
  if (question.collective == Collective::kBarrier) return title;
  title += ", " + counted(question.count, "element");
  if (collectives::has_root(question.collective))
    title += ", root " + std::to_string(question.root);
  return title + (question.in_place ? ", in place" : ", out of place");
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace rota::bench
