// The simulated launcher works only when a rank polls: it then handles all messages that have
// arrived. For a rank, this is the same as a launcher that runs all the time. The real coordinator
// runs in another process, so here no other rank runs while the coordinator works.
#include "simulation/launcher.h"

#include <algorithm>
#include <utility>

#include "simulation/machine.h"

namespace rota::simulation {
namespace {

constexpr std::uint64_t kMostNanosecondsOnTheWay = 2'000'000;

}  // namespace

class Launcher::Connection final : public rendezvous::Connection {
 public:
  Connection(Launcher& launcher, std::size_t rank) : launcher_(launcher), rank_(rank) {}

  int fd() const noexcept override { return -1; }
  bool is_sending() const noexcept override { return false; }

  os::Io send(std::span<const std::byte> bytes, std::span<const int>) override {
    const Inside here;
    launcher_.post({.arrives = launcher_.draw_arrival(),
                    .rank = rank_,
                    .bytes = {bytes.begin(), bytes.end()},
                    .text = {}});
    return os::Io::kDone;
  }

  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>&) override {
    const Inside here;
    launcher_.take_in();
    auto& outbox = launcher_.outboxes_[rank_];
    if (outbox.empty() || outbox.front().arrives > launcher_.scheduler_.now()) {
      return os::Io::kWouldBlock;
    }
    bytes = std::move(outbox.front().bytes);
    launcher_.memory_.learn(outbox.front().known);
    outbox.pop_front();
    return os::Io::kDone;
  }

 private:
  Launcher& launcher_;
  std::size_t rank_;
};

Launcher::Launcher(Scheduler& scheduler, SharedMemoryModel& memory, Random& random,
                   const rendezvous::Job& job)
    : scheduler_(scheduler),
      memory_(memory),
      random_(random),
      coordinator_(job),
      outboxes_(job.table.rows.size()) {
  for (std::size_t rank = 0; rank < outboxes_.size(); ++rank) {
    coordinator_.on_message(rank, {.type = rendezvous::MessageType::kJoin}, scheduler_.now());
  }
  coordinator_.take_outbox();  // Every rank has been welcomed.
}

std::unique_ptr<rendezvous::Connection> Launcher::line_of(std::size_t rank) {
  return std::make_unique<Connection>(*this, rank);
}

void Launcher::on_end(std::size_t rank, const std::string& how) {
  const Inside here;
  post({.arrives = draw_arrival(), .rank = rank, .bytes = {}, .text = how});
}

base::TimePoint Launcher::draw_arrival() {
  return scheduler_.now() + base::Duration(random_.below(kMostNanosecondsOnTheWay));
}

// Letters of one rank keep their order.
void Launcher::post(Letter letter) {
  letter.known = memory_.known();
  for (const Letter& before : inbox_) {
    if (before.rank == letter.rank) letter.arrives = std::max(letter.arrives, before.arrives);
  }
  const auto after = std::ranges::upper_bound(inbox_, letter.arrives, {}, &Letter::arrives);
  inbox_.insert(after, std::move(letter));
  scheduler_.note_event();
}

void Launcher::take_in() {
  while (!inbox_.empty() && inbox_.front().arrives <= scheduler_.now()) {
    const Letter letter = std::move(inbox_.front());
    inbox_.pop_front();
    SharedMemoryModel::join(known_, letter.known);
    if (letter.bytes.empty()) {
      coordinator_.on_departure(letter.rank, letter.text);
    } else {
      coordinator_.on_message(
          letter.rank, rendezvous::read_from_rank(letter.rank, outboxes_.size(), letter.bytes),
          letter.arrives);
    }
    send_out();
  }
}

void Launcher::send_out() {
  for (rendezvous::Outgoing& outgoing : coordinator_.take_outbox()) {
    auto& outbox = outboxes_[outgoing.rank];
    base::TimePoint arrives = draw_arrival();
    if (!outbox.empty()) arrives = std::max(arrives, outbox.back().arrives);
    outbox.push_back({.arrives = arrives,
                      .rank = outgoing.rank,
                      .bytes = rendezvous::encode(outgoing.message),
                      .text = {},
                      .known = known_});
    scheduler_.note_event();
  }
}

}  // namespace rota::simulation
