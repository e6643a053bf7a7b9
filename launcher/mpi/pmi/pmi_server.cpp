// Carries the requests and answers of PMI-1 over sockets.
#include "launcher/mpi/pmi/pmi_server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "launcher/mpi/mpich_memory.h"
#include "os/stream_pair.h"

namespace rota::launcher {
namespace {

// How long a barrier may lack ranks of this host before the server reports them. The leader names
// them if the barrier waits too long.
constexpr std::chrono::seconds kReportTime{1};

// A rank that has so many answers to read is not asked for further requests.
constexpr std::size_t kMostUnsentBytes = std::size_t{64} << 10;

}  // namespace

PmiServer::PmiServer(const MpiPlan& plan, const HostAssignment& assignment)
    : plan_(plan),
      assignment_(assignment),
      engine_(plan, assignment),
      lines_(assignment.ranks.size()) {}

PmiServer::~PmiServer() { remove_mpich_memory(engine_.store_name()); }

MpiOutfit PmiServer::outfit_of(std::size_t local_rank) {
  const auto number = mpi_rank_of(plan_, assignment_.ranks[local_rank]);
  if (!number) return {};
  const std::uint32_t node = plan_.world[*number].node;
  const auto own = plan_.world.begin() + static_cast<std::ptrdiff_t>(*number);
  const auto local_number = std::count_if(
      plan_.world.begin(), own, [&](const MpiPlace& place) { return place.node == node; });
  const auto local_count = std::ranges::count(plan_.world, node, &MpiPlace::node);
  auto [ours, theirs] = os::make_stream_pair();
  lines_[local_rank].fd = std::move(ours);
  MpiOutfit outfit{.variables = {"PMI_FD=" + std::to_string(theirs.get()),
                                 "PMI_RANK=" + std::to_string(*number),
                                 "PMI_SIZE=" + std::to_string(plan_.world.size()),
                                 "MPI_LOCALRANKID=" + std::to_string(local_number),
                                 "MPI_LOCALNRANKS=" + std::to_string(local_count)}};
  outfit.kept_fd = std::move(theirs);
  return outfit;
}

void PmiServer::add_to(os::PollSet& polls) {
  for (Line& line : lines_) {
    line.is_polled = static_cast<bool>(line.fd);
    if (!line.is_polled) continue;
    const bool may_ask = line.unsent.size() < kMostUnsentBytes;
    line.position = polls.add(line.fd.get(), may_ask, !line.unsent.empty());
  }
}

void PmiServer::handle(const os::PollSet& polls, base::TimePoint now) {
  for (std::size_t local = 0; local < lines_.size(); ++local) {
    if (!std::exchange(lines_[local].is_polled, false)) continue;
    if (polls.readable(lines_[local].position)) read(local);
    if (lines_[local].fd && polls.writable(lines_[local].position)) write(lines_[local]);
  }
  conclude(now);
}

void PmiServer::catch_up(std::size_t local_rank, base::TimePoint now) {
  if (lines_[local_rank].fd) read(local_rank);
  conclude(now);
}

void PmiServer::end_fence(const FenceResult& result, base::TimePoint now) {
  engine_.end_fence(result);
  conclude(now);
}

// Reads once or a few times: a rank that never stops writing must not keep the loop from its other
// work.
void PmiServer::read(std::size_t local_rank) {
  constexpr int kMostReads = 16;
  std::array<char, 4096> buffer;
  for (int count = 0; count < kMostReads; ++count) {
    const os::ReadResult got = os::receive_available(lines_[local_rank].fd.get(), buffer);
    if (got.io == os::Io::kDone) {
      engine_.on_bytes(local_rank, {buffer.data(), got.count});
      continue;
    }
    if (got.io == os::Io::kClosed) lines_[local_rank] = {};
    return;
  }
}

void PmiServer::write(Line& line) {
  const os::WriteResult written = os::send_available(line.fd.get(), line.unsent);
  if (written.io == os::Io::kClosed) line.unsent.clear();
  line.unsent.erase(0, written.count);
}

// Sends the answers of the engine, takes its events, and looks whether a barrier waits.
void PmiServer::conclude(base::TimePoint now) {
  for (PmiEngine::Answer& answer : engine_.take_answers()) {
    Line& line = lines_[answer.local_rank];
    if (!line.fd) continue;
    line.unsent += answer.bytes;
    write(line);
  }
  for (MpiEvent& event : engine_.take_events()) events_.push_back(std::move(event));
  auto incomplete = engine_.incomplete_fence();
  if (incomplete == reported_ || !incomplete) {
    report_at_.reset();
    if (!incomplete) reported_.reset();
    return;
  }
  if (!report_at_) report_at_ = now + kReportTime;
  if (now < *report_at_) return;
  report_at_.reset();
  reported_ = incomplete;
  events_.push_back({.kind = MpiEvent::Kind::kFenced, .share = *std::move(incomplete)});
}

}  // namespace rota::launcher
