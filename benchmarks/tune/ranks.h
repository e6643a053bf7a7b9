// Measures the ranks of the job that is tuned, with one communicator for each plan. Every call is
// collective, and returns the same on every rank.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "communicator/impl.h"
#include "predict/prediction.h"
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

  // Measures latencies with one pair of ranks alone. Measures bandwidths in rings: in a ring of the
  // ranks of each host, and then in a ring of the first ranks of all hosts. Measures additions on
  // all ranks at the same time.
  WorldModel measure_model();

  // Measures the codec on all ranks at the same time.
  CodecCosts measure_codec(Codec codec);

  // Returns the times of `plans`, with the same index. The plans run in turn, so that a disturbance
  // of the machine affects all of them.
  std::vector<Times> measure_all_reduces(const std::vector<collectives::Algorithm>& plans,
                                         std::size_t bytes, double seconds);

 private:
  using Pair = std::pair<std::size_t, std::size_t>;

  void barrier();
  std::vector<double> gather(double own);  // Index = rank.
  double slowest(double own);
  double as_rank_0_says(double own) { return gather(own).front(); }
  CommunicatorImpl& by(collectives::Algorithm plan);

  double measure_latency(Pair pair);
  double measure_bandwidth(std::size_t to, std::size_t from);  // Seconds per byte.
  double measure_messages(std::size_t to, std::size_t from);   // Seconds per message, at each end.
  double measure_reduction();
  Link measure_link(Pair pair, std::size_t to, std::size_t from);

  CommunicatorImpl all_;
  std::map<collectives::Algorithm, std::unique_ptr<CommunicatorImpl>> by_plan_;
};

}  // namespace rota::bench
