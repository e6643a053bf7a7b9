// Has the connections to some ranks, and the messages that wait to be sent over each connection.
// Coordinators and relays use this class, which depends on neither.
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
#include "rendezvous/connection.h"
#include "rendezvous/message.h"

namespace rota::rendezvous {

class Connections {
 public:
  // Called for each message that has come. The bytes are not checked: they may be invalid.
  using Heard = std::function<void(std::size_t index, std::span<const std::byte> bytes)>;
  // Called when the last of the descriptors that were posted together has been sent.
  using DescriptorsSent = std::function<void(std::size_t index)>;

  Connections(std::size_t count, Heard heard, DescriptorsSent descriptors_sent)
      : outboxes_(count),
        heard_(std::move(heard)),
        descriptors_sent_(std::move(descriptors_sent)) {}

  std::size_t count() const noexcept { return outboxes_.size(); }
  void connect(std::size_t index, std::unique_ptr<Connection> connection);
  void disconnect(std::size_t index) noexcept { outboxes_[index].connection.reset(); }

  // Returns whether the connection is open. A connection that the peer has ended counts as open
  // until all messages that came over it have been passed on.
  bool is_connected(std::size_t index) const noexcept {
    return outboxes_[index].connection != nullptr;
  }

  // The three parts of one iteration of an event loop: before the poll, after it, and sending. None
  // of them blocks. If there are very many descriptors, some are sent in later iterations.
  void add_to(os::PollSet& polls, base::TimePoint now);
  void handle(const os::PollSet& polls, base::TimePoint now);
  void send_all(base::TimePoint now);

  // Returns whether messages to ranks whose connections are open have not left this process yet.
  bool is_sending() const noexcept;

  // Reads everything that has come until now.
  void read_all(std::size_t index);

  // Queues a message. A later send_all() sends the message, when the connection has room. If one
  // message cannot carry all descriptors, the other descriptors follow in copies of the message
  // without text.
  void post(std::size_t index, Message message, const std::vector<int>& fds);

  std::optional<base::TimePoint> next_deadline(base::TimePoint now) const;

 private:
  // A message that is not sent yet. A kWelcome contains the key, which must not stay in memory: a
  // core file would have it.
  struct Pending {
    ~Pending() { os::wipe(bytes); }

    std::vector<std::byte> bytes;
    std::vector<int> fds;
  };
  struct Outbox {
    std::unique_ptr<Connection> connection;
    std::deque<Pending> pending;
    std::optional<base::TimePoint> retry_at;  // While the connection refuses a message.
    std::size_t position = kNotPolled;
  };
  static constexpr std::size_t kNotPolled = static_cast<std::size_t>(-1);

  void read(std::size_t index, std::size_t most_messages);
  os::Io receive(Connection& connection);
  void send(std::size_t index, base::TimePoint now);

  std::vector<Outbox> outboxes_;
  std::size_t descriptor_messages_left_ = 0;  // In this iteration.
  Heard heard_;
  DescriptorsSent descriptors_sent_;
  std::vector<std::byte> bytes_;
  std::vector<os::Fd> fds_;
};

}  // namespace rota::rendezvous
