// A name server on the loopback interface, which answers from a table, and remembers what it was
// asked. Over UDP and TCP, at a port that anybody may have.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "os/address.h"
#include "os/fd.h"
#include "os/poll_set.h"

namespace rota::testing {

class NameServer {
 public:
  enum class Behaviour : std::uint8_t { kAnswers, kFails, kRefuses, kIsSilent, kHangsUp };

  NameServer();
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  os::Address address() const;

  // From now on; names without their last dot. A name without records is answered by NXDOMAIN, and
  // one without records of the type that is asked for by none.
  void add_address(const std::string& name, const std::string& number);
  void add_target(const std::string& service, const std::string& host, std::uint16_t port);

  // Of all names of this ending; the last that was said counts.
  void behave(const std::string& ending, Behaviour behaviour);

  // Before each answer; nothing else is done meanwhile.
  void think(std::chrono::milliseconds pause);

  // Nobody is answered over UDP until so many questions have come.
  void hold(std::size_t count);

  // "A mnist-0.mnist", in the order in which they came; once over again where one is repeated.
  std::vector<std::string> questions() const;
  std::size_t stream_count() const;  // Of those that came over TCP.

 private:
  using Bytes = std::vector<std::uint8_t>;
  using Key = std::pair<std::string, std::uint16_t>;  // A name, and a type of record.

  struct Datagram {
    Bytes bytes;
    os::Address sender;
  };

  void serve();
  void serve_datagrams();
  void serve_stream();
  std::optional<Bytes> answer(const Bytes& question, bool by_stream);

  os::Fd datagrams_;
  os::Fd streams_;
  os::Wakeup end_;
  mutable std::mutex mutex_;
  std::multimap<Key, Bytes> records_;
  std::vector<std::pair<std::string, Behaviour>> behaviours_;
  std::chrono::milliseconds pause_{0};
  std::atomic<std::size_t> hold_count_{0};
  std::vector<Datagram> held_;
  std::vector<std::string> questions_;
  std::size_t stream_count_ = 0;
  std::thread thread_;
};

}  // namespace rota::testing
