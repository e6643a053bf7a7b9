// Sends the leader's decisions to all other hosts, and turns the messages of these hosts into job
// events and messages of ranks.
#include "launcher/hosts/followers.h"

#include <algorithm>
#include <utility>

#include "auth/handshake.h"
#include "base/byte_stream.h"
#include "rendezvous/job.h"
#include "rendezvous/message.h"

namespace rota::launcher {
namespace {

// Returns a message for a rank, without the data key. The rank's own host puts the key in again.
std::vector<std::byte> without_secret(std::span<const std::byte> bytes) {
  auto message = rendezvous::decode(bytes);
  if (!message || message->type != rendezvous::MessageType::kWelcome) {
    return {bytes.begin(), bytes.end()};
  }
  message->text = rendezvous::without_key(std::move(message->text));
  return encode(*message);
}

}  // namespace

// The connection to a rank on another host: the rank's messages arrive over the launcher link.
class Followers::RelayedConnection final : public rendezvous::Connection {
 public:
  RelayedConnection(Followers& followers, std::size_t rank) : followers_(followers), rank_(rank) {}

  int fd() const noexcept override { return -1; }
  bool is_sending() const noexcept override { return false; }

  os::Io send(std::span<const std::byte> bytes, std::span<const int> /*fds*/) override {
    if (!followers_.subtree_.reaches_rank(rank_)) return os::Io::kClosed;
    followers_.subtree_.send_to_rank(rank_, {.type = ControlMessageType::kToRank,
                                             .rank = static_cast<std::uint32_t>(rank_),
                                             .text = base::text_of(without_secret(bytes))});
    return os::Io::kDone;
  }

  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override {
    fds.clear();
    auto& said = followers_.said_[rank_];
    if (said.empty()) {
      const bool is_open = followers_.subtree_.reaches_rank(rank_);
      return is_open ? os::Io::kWouldBlock : os::Io::kClosed;
    }
    bytes = std::move(said.front());
    said.pop_front();
    return os::Io::kDone;
  }

 private:
  Followers& followers_;
  std::size_t rank_;
};

Followers::Followers(const HostPlan& host_plan, const auth::Credentials& secret, Hello own,
                     os::Listener listener, Subtree::Say say)
    : incarnation_(auth::new_incarnation()),
      subtree_(host_plan,
               {.secret = secret, .incarnation = incarnation_, .listener = std::move(listener)},
               std::move(own), std::move(say)) {}

Followers::~Followers() = default;

void Followers::assign(const std::vector<HostAssignment>& assignments, HostEndpoints own) {
  said_.assign(assignments.front().world_size, {});
  std::vector<HostText> by_host;
  for (std::size_t host = 0; host < assignments.size(); ++host) {
    by_host.push_back({host, encode(assignments[host])});
  }
  subtree_.assign(by_host);
  subtree_.registry().set_own_endpoints(std::move(own));
}

std::unique_ptr<rendezvous::Connection> Followers::connection_to(std::size_t rank) {
  return std::make_unique<RelayedConnection>(*this, rank);
}

// Returns the events of other hosts. While the hosts gather, a lost host may come again, so its
// loss is not an event.
std::vector<JobEvent> Followers::handle(const os::PollSet& /*polls*/, base::TimePoint now) {
  std::vector<JobEvent> events;
  const std::size_t limit = std::max(said_.size(), subtree_.host_count());
  for (ControlMessage& message : subtree_.handle(now)) {
    if (message.type == ControlMessageType::kSaid) {
      const auto bytes = std::as_bytes(std::span(message.text));
      const auto world = static_cast<std::uint32_t>(message.value);
      // If the message is from another world, the rank with this number in that world sent it. Such
      // a message is late, like the events of that rank.
      const bool is_late = world != subtree_.routes().world();
      if (!is_late) said_[message.rank].emplace_back(bytes.begin(), bytes.end());
      events.push_back({.kind = JobEvent::Kind::kRankSpoke, .world = world, .rank = message.rank});
      continue;
    }
    if (message.type == ControlMessageType::kOutput) {
      const bool is_evaluator = message.value >= kOfEvaluator;
      events.push_back(
          {.kind = is_evaluator ? JobEvent::Kind::kEvaluatorWrote : JobEvent::Kind::kRankWrote,
           .rank = message.rank,
           .value = message.value % kOfEvaluator,
           .text = std::move(message.text)});
      continue;
    }
    auto told = decode_job_event(message.text, limit);
    const bool is_loss = told && told->kind == JobEvent::Kind::kHostLost;
    if (told && !(is_loss && subtree_.is_gathering())) events.push_back(std::move(*told));
  }
  return events;
}

std::vector<std::size_t> Followers::ranks_of(std::size_t host) const {
  return subtree_.routes().ranks_of(host);
}

void Followers::refuse_all(int exit_code, const std::string& why, base::TimePoint now) {
  subtree_.refuse({.type = ControlMessageType::kRefused, .value = exit_code, .text = why}, now);
}

void Followers::start() {
  subtree_.send({.type = ControlMessageType::kStart, .text = encode(start_info_)});
}

void Followers::ask_to_end(int signal, const std::string& text) {
  subtree_.send({.type = ControlMessageType::kAskToEnd, .value = signal, .text = text});
}

void Followers::kill() { subtree_.send({.type = ControlMessageType::kKill}); }

void Followers::signal_ranks(int signal) {
  subtree_.send({.type = ControlMessageType::kSignal, .value = signal});
}

void Followers::end_fence(const FenceResult& result) {
  subtree_.send({.type = ControlMessageType::kFence, .text = encode(result)});
}

void Followers::send_letter(const MpiLetter& letter) {
  subtree_.send_to_rank(
      letter.to, {.type = ControlMessageType::kLetter, .rank = letter.to, .text = encode(letter)});
}

void Followers::set_flow(Flow flow) {
  if (flow == flow_) return;
  flow_ = flow;
  subtree_.send({.type = ControlMessageType::kFlow, .value = to_number(flow)});
}

void Followers::finish(int exit_code, std::optional<std::size_t> last_rank) {
  if (last_rank) last_host_ = subtree_.routes().host_of(*last_rank);
  subtree_.on_finish(exit_code);
  subtree_.send({.type = ControlMessageType::kFinish,
                 .rank = static_cast<std::uint32_t>(last_host_),
                 .value = exit_code});
}

}  // namespace rota::launcher
