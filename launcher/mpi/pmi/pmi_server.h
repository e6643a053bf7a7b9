// Serves PMI-1 to the ranks of this host, each over a socket pair of its own.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/mpi/mpi_server.h"
#include "launcher/mpi/pmi/pmi_engine.h"
#include "os/fd.h"
#include "os/poll_set.h"

namespace rota::launcher {

class PmiServer final : public MpiServer {
 public:
  PmiServer(const MpiPlan& plan, const HostAssignment& assignment);
  PmiServer(const PmiServer&) = delete;
  PmiServer& operator=(const PmiServer&) = delete;
  ~PmiServer() override;  // Removes what killed ranks have left behind.

  MpiOutfit outfit_of(std::size_t local_rank) override;
  void add_to(os::PollSet& polls) override;
  void handle(const os::PollSet& polls, base::TimePoint now) override;
  std::optional<base::TimePoint> next_deadline() const override { return report_at_; }
  void catch_up(std::size_t local_rank, base::TimePoint now) override;
  void end_fence(const FenceResult& result, base::TimePoint now) override;
  std::vector<MpiEvent> take_events() override { return std::exchange(events_, {}); }

 private:
  struct Line {
    os::Fd fd{};
    std::string unsent{};
    std::size_t position = 0;
    bool is_polled = false;
  };

  void read(std::size_t local_rank);
  void write(Line& line);
  void conclude(base::TimePoint now);

  MpiPlan plan_;
  HostAssignment assignment_;
  PmiEngine engine_;
  std::vector<Line> lines_;  // By local rank.
  std::vector<MpiEvent> events_;
  // When to report which ranks of this host have arrived in a barrier that is not complete.
  std::optional<base::TimePoint> report_at_;
  std::optional<FenceShare> reported_;
};

}  // namespace rota::launcher
