// The ranks that are tuned: one communicator a plan, and what is measured with them. Every call is
// collective, and gives the same on every rank.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "communicator/impl.h"
#include "tune/prediction.h"
#include "tune/selection.h"

namespace rota::bench {

class ROTA_HIDDEN TunedRanks {
 public:
  // Joins the job, without a tuned file.
  explicit TunedRanks(const CommunicatorOptions& options);

  std::size_t rank() const { return all_.group().rank; }
  std::size_t world_size() const { return all_.group().world_size(); }
  Topology topology() const;
  bool shares_memory() const;

  // Latencies are of one pair alone, bandwidths and the rate of additions of all ranks at once.
  WorldModel measure_model();

  // Index = that of `plans`, which are run in turns: what disturbs the machine disturbs all of
  // them.
  std::vector<Times> measure_all_reduces(const std::vector<collectives::Algorithm>& plans,
                                         std::size_t bytes, double seconds);

 private:
  using Pair = std::pair<std::size_t, std::size_t>;

  void barrier();
  std::vector<double> gather(double own);  // By rank.
  double slowest(double own);
  double as_rank_0_says(double own) { return gather(own).front(); }
  CommunicatorImpl& by(collectives::Algorithm plan);

  double measure_latency(Pair pair);
  double measure_bandwidth(std::size_t to, std::size_t from);  // Seconds a byte.
  double measure_messages(std::size_t to, std::size_t from);   // Seconds a message and end.
  double measure_reduction();
  Link measure_link(Pair pair, std::size_t to, std::size_t from);

  CommunicatorImpl all_;
  std::map<collectives::Algorithm, std::unique_ptr<CommunicatorImpl>> by_plan_;
};

}  // namespace rota::bench
