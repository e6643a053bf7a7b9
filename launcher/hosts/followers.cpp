// The other hosts, as the leader's run of the job sees them.
#include "launcher/hosts/followers.h"

#include <algorithm>
#include <utility>

#include "auth/handshake.h"
#include "rendezvous/job.h"
#include "rendezvous/message.h"

namespace rota::launcher {
namespace {

// What a rank is to get, without the key of the data: its own host puts that in again.
std::vector<std::byte> without_secret(std::span<const std::byte> bytes) {
  auto message = rendezvous::decode(bytes);
  if (!message || message->type != rendezvous::MessageType::kWelcome) {
    return {bytes.begin(), bytes.end()};
  }
  message->text = rendezvous::without_key(std::move(message->text));
  return encode(*message);
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// The line of a rank that is on another host: what it says arrives by the trunk.
class Followers::RelayedLine final : public rendezvous::Line {
 public:
  RelayedLine(Followers& followers, std::size_t rank) : followers_(followers), rank_(rank) {}

  int fd() const noexcept override { return -1; }
  bool is_sending() const noexcept override { return false; }

  os::Io send(std::span<const std::byte> bytes, std::span<const int> /*fds*/) override {
    if (!followers_.branch_.reaches_rank(rank_)) return os::Io::kClosed;
    followers_.branch_.send_to_rank(rank_, {.type = DispatchType::kToRank,
                                            .rank = static_cast<std::uint32_t>(rank_),
                                            .text = as_text(without_secret(bytes))});
    return os::Io::kDone;
  }

  os::Io receive(std::vector<std::byte>& bytes, std::vector<os::Fd>& fds) override {
    fds.clear();
    auto& said = followers_.said_[rank_];
    if (said.empty()) {
      const bool is_open = followers_.branch_.reaches_rank(rank_);
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

Followers::Followers(const Meeting& meeting, const auth::Credentials& secret, Hello own,
                     os::Listener listener, Branch::Say say)
    : incarnation_(auth::new_incarnation()),
      branch_(meeting,
              {.secret = secret, .incarnation = incarnation_, .listener = std::move(listener)},
              std::move(own), std::move(say)) {}

Followers::~Followers() = default;

void Followers::assign(const std::vector<Share>& shares, Seats own) {
  said_.assign(shares.front().world_size, {});
  std::vector<HostText> by_host;
  for (std::size_t host = 0; host < shares.size(); ++host) {
    by_host.push_back({host, encode(shares[host])});
  }
  branch_.assign(by_host);
  branch_.muster().set_own_seats(std::move(own));
}

std::unique_ptr<rendezvous::Line> Followers::line_to(std::size_t rank) {
  return std::make_unique<RelayedLine>(*this, rank);
}

// While they gather, one that is lost may come again.
std::vector<News> Followers::handle(const os::PollSet& /*polls*/, base::TimePoint now) {
  std::vector<News> news;
  const std::size_t limit = std::max(said_.size(), branch_.host_count());
  for (Dispatch& dispatch : branch_.handle(now)) {
    if (dispatch.type == DispatchType::kSaid) {
      const auto bytes = std::as_bytes(std::span(dispatch.text));
      const auto world = static_cast<std::uint32_t>(dispatch.value);
      // Who had this number in another world has said what is late, as its news is.
      const bool is_late = world != branch_.routes().world();
      if (!is_late) said_[dispatch.rank].emplace_back(bytes.begin(), bytes.end());
      news.push_back({.kind = News::Kind::kRankSpoke, .world = world, .rank = dispatch.rank});
      continue;
    }
    if (dispatch.type == DispatchType::kOutput) {
      const bool is_evaluator = dispatch.value >= kOfEvaluator;
      news.push_back({.kind = is_evaluator ? News::Kind::kEvaluatorWrote : News::Kind::kRankWrote,
                      .rank = dispatch.rank,
                      .value = dispatch.value % kOfEvaluator,
                      .text = std::move(dispatch.text)});
      continue;
    }
    auto told = decode_news(dispatch.text, limit);
    const bool is_loss = told && told->kind == News::Kind::kHostLost;
    if (told && !(is_loss && branch_.is_gathering())) news.push_back(std::move(*told));
  }
  return news;
}

std::vector<std::size_t> Followers::ranks_of(std::size_t host) const {
  return branch_.routes().ranks_of(host);
}

void Followers::refuse_all(int exit_code, const std::string& why, base::TimePoint now) {
  branch_.refuse({.type = DispatchType::kRefused, .value = exit_code, .text = why}, now);
}

void Followers::start() {
  branch_.send({.type = DispatchType::kStart, .text = encode(beginning_)});
}

void Followers::ask_to_end(int signal, const std::string& text) {
  branch_.send({.type = DispatchType::kAskToEnd, .value = signal, .text = text});
}

void Followers::kill() { branch_.send({.type = DispatchType::kKill}); }

void Followers::set_flow(Flow flow) {
  if (flow == flow_) return;
  flow_ = flow;
  branch_.send({.type = DispatchType::kFlow, .value = to_number(flow)});
}

void Followers::finish(int exit_code, std::optional<std::size_t> last_rank) {
  if (last_rank) last_host_ = branch_.routes().host_of(*last_rank);
  branch_.on_finish(exit_code);
  branch_.send({.type = DispatchType::kFinish,
                .rank = static_cast<std::uint32_t>(last_host_),
                .value = exit_code});
}

}  // namespace rota::launcher
