// Each group has one post office, which keeps a letter until the receiver has taken it.
#include "communicator/toy_transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "memory/host_block.h"

namespace rota::testing {
namespace {

struct Letter {
  transport::Header header;
  std::vector<std::byte> payload;
};

struct Office {
  std::mutex mutex;
  std::condition_variable news;
  std::uint64_t news_count = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<Letter>> letters{};  // Key: from, to.
  std::atomic<bool> is_closed = false;

  void tell() {
    ++news_count;
    news.notify_all();
  }
};

// Returns the office with this number. The first caller creates the office.
std::shared_ptr<Office> office_of(std::uint64_t number) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::shared_ptr<Office>> offices;
  const std::scoped_lock lock(mutex);
  auto& office = offices[number];
  if (!office) office = std::make_shared<Office>();
  return office;
}

// Returns the number of a new group's office. These numbers are larger than those of the offices of
// jobs.
std::uint64_t new_number() {
  static std::atomic<std::uint64_t> last{std::uint64_t{1} << 32};
  return ++last;
}

class LetterChannel final : public transport::Channel {
 public:
  LetterChannel(Office& office, std::size_t rank, std::size_t peer)
      : office_(office), out_{rank, peer}, in_{peer, rank} {}

  void start_send(const transport::Header& header, std::span<const std::byte> payload) override {
    written_ = {header, {}};
    send_more(payload);
  }
  // A letter is handed in when all of it is written.
  void send_more(std::span<const std::byte> payload) override {
    written_.payload.insert(written_.payload.end(), payload.begin(), payload.end());
    if (written_.payload.size() < written_.header.bytes) return;
    const std::scoped_lock lock(office_.mutex);
    office_.letters[out_].push_back(std::move(written_));
    office_.tell();
  }
  transport::Progress progress_send() override { return transport::Progress::kDone; }

  const transport::Header* incoming() override {
    const std::scoped_lock lock(office_.mutex);
    auto& letters = office_.letters[in_];
    if (letters.empty() && office_.is_closed) throw Error(ErrorCode::kPeerLost, "it has closed");
    letter_ = letters.empty() ? nullptr : &letters.front();
    return letter_ ? &letter_->header : nullptr;
  }
  std::span<const std::byte> peek() override { return std::span(letter_->payload).subspan(taken_); }
  void release(std::size_t bytes) override { taken_ += bytes; }
  std::size_t receive(std::span<std::byte> into) override {
    const auto rest = peek();
    const std::size_t bytes = std::min(rest.size(), into.size());
    std::ranges::copy(rest.first(bytes), into.begin());
    release(bytes);
    return bytes;
  }
  void finish_receive() override {
    const std::scoped_lock lock(office_.mutex);
    office_.letters[in_].pop_front();
    taken_ = 0;
  }

 private:
  Office& office_;
  std::pair<std::size_t, std::size_t> out_;
  std::pair<std::size_t, std::size_t> in_;
  Letter written_{};                // The letter that is not handed in yet.
  const Letter* letter_ = nullptr;  // The arriving letter.
  std::size_t taken_ = 0;
};

class LetterTransport final : public transport::Transport {
 public:
  LetterTransport(std::shared_ptr<Office> office, std::size_t rank, std::size_t world_size)
      : office_(std::move(office)) {
    for (std::size_t peer = 0; peer < world_size; ++peer) {
      channels_.emplace_back(*office_, rank, peer);
    }
  }

  std::string_view name() const noexcept override { return kToyRow.name; }
  transport::Channel& channel(std::size_t peer) noexcept override { return channels_[peer]; }
  void sleep(base::Duration at_most) override {
    std::unique_lock lock(office_->mutex);
    office_->news.wait_for(lock, at_most, [&] { return office_->news_count != heard_; });
    heard_ = office_->news_count;
  }
  void wake() noexcept override {
    const std::scoped_lock lock(office_->mutex);
    office_->tell();
  }
  bool ends_by_itself(std::size_t) const noexcept override { return true; }
  std::unique_ptr<transport::Fabric> group_fabric(const transport::GroupShape& shape) override;
  Block allocate(std::size_t bytes) override { return memory::allocate_host(bytes); }
  std::uint64_t sent_bytes() const noexcept override { return 0; }
  std::uint64_t staged_bytes() const noexcept override { return 0; }
  void abort(const transport::Cause&) noexcept override {
    office_->is_closed = true;
    wake();
  }
  bool broken() const noexcept override { return office_->is_closed; }
  std::optional<transport::Cause> aborted() override { return std::nullopt; }

 private:
  std::shared_ptr<Office> office_;
  std::deque<LetterChannel> channels_;
  std::uint64_t heard_ = 0;
};

// Every rank of a new group offers an office, and all of them use the office of the first rank.
class LetterFabric final : public transport::Fabric {
 public:
  explicit LetterFabric(transport::GroupShape shape) : shape_(std::move(shape)) {}

  std::vector<transport::Ticket> issue(const std::string&) override {
    std::vector<transport::Ticket> tickets(shape_.own.size());
    for (transport::Ticket& ticket : tickets) ticket.place[0] = new_number();
    return tickets;
  }

  std::vector<std::unique_ptr<transport::Transport>> connect(
      std::span<const transport::Ticket> tickets, const transport::CallTerms&,
      base::TimePoint) override {
    std::vector<std::unique_ptr<transport::Transport>> transports;
    for (const std::size_t rank : shape_.own) {
      transports.push_back(std::make_unique<LetterTransport>(office_of(tickets.front().place[0]),
                                                             rank, shape_.domains.size()));
    }
    return transports;
  }

 private:
  transport::GroupShape shape_;
};

std::unique_ptr<transport::Fabric> LetterTransport::group_fabric(
    const transport::GroupShape& shape) {
  return std::make_unique<LetterFabric>(shape);
}

}  // namespace

std::unique_ptr<transport::Transport> join_toy(const transport::GroupShape& shape,
                                               transport::Descriptors,
                                               const transport::CallTerms& terms, base::TimePoint) {
  return std::make_unique<LetterTransport>(office_of(terms.incarnation), shape.own.front(),
                                           shape.domains.size());
}

}  // namespace rota::testing
