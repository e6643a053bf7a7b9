// The lines to some ranks, and what waits to be sent over each. Who speaks at the other end of the
// program, a coordinator or a relay, is not known here.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "os/fd.h"
#include "os/host.h"
#include "os/poll_set.h"
#include "rendezvous/line.h"
#include "rendezvous/message.h"

namespace rota::rendezvous {

class Lines {
 public:
  // Told each message that has come, which may be no message at all.
  using Heard = std::function<void(std::size_t index, std::span<const std::byte> bytes)>;
  // Told when the last of the descriptors that were posted together has gone.
  using Lent = std::function<void(std::size_t index)>;

  Lines(std::size_t count, Heard heard, Lent lent)
      : boxes_(count), heard_(std::move(heard)), lent_(std::move(lent)) {}

  std::size_t count() const noexcept { return boxes_.size(); }
  void connect(std::size_t index, std::unique_ptr<Line> line);
  void disconnect(std::size_t index) noexcept { boxes_[index].line.reset(); }

  // Whether the line stands. One that ended has handed on all that came over it.
  bool is_connected(std::size_t index) const noexcept { return boxes_[index].line != nullptr; }

  // One turn of a loop. Never blocks. Of very many descriptors some are sent in later turns.
  void add_to(os::PollSet& polls, base::TimePoint now);
  void handle(const os::PollSet& polls, base::TimePoint now);
  void send_all(base::TimePoint now);

  // Everything that has come until now.
  void read_all(std::size_t index);

  // Goes with the next send_all for which the line has room. More descriptors than one message
  // takes follow in copies of it without text.
  void post(std::size_t index, Message message, const std::vector<int>& fds);

  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;

 private:
  // A message that the line has no room for yet. A welcome has a key in it, of which nothing is to
  // stay in memory that a core file has.
  struct Parcel {
    ~Parcel() { os::wipe(bytes); }

    std::vector<std::byte> bytes;
    std::vector<int> fds;
  };
  struct Box {
    std::unique_ptr<Line> line;
    std::deque<Parcel> parcels;
    std::optional<base::TimePoint> retry_at;  // While the line refuses.
    std::size_t position = kNotPolled;
  };
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  void read(std::size_t index, std::size_t most_messages);
  os::Io receive(Line& line);
  void send(std::size_t index, base::TimePoint now);

  std::vector<Box> boxes_;
  std::size_t loans_left_ = 0;  // In this turn.
  Heard heard_;
  Lent lent_;
  std::vector<std::byte> bytes_;
  std::vector<os::Fd> fds_;
};

}  // namespace rota::rendezvous
