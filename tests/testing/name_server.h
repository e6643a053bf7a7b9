// A name server on the loopback interface, over UDP and TCP, at a port that the system chooses. It
// answers from a table and records each question.
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

  // Add records for later questions. Names are given without the last dot. For a name that has no
  // records, the server answers NXDOMAIN. For a name that has only records of other types, it
  // answers with no records.
  void add_address(const std::string& name, const std::string& number);
  void add_text(const std::string& name);

  // Sets how the server treats all names with this ending. If several endings match a name, the
  // last one added counts.
  void behave(const std::string& ending, Behaviour behaviour);

  // Sets a pause before each answer. The server does nothing else meanwhile.
  void think(std::chrono::milliseconds pause);

  // Answers nothing over UDP until `count` questions have come.
  void hold(std::size_t count);

  // Returns the questions in order of arrival, as "A mnist-0.mnist". A repeated question appears
  // again.
  std::vector<std::string> questions() const;
  std::size_t stream_count() const;  // Questions over TCP.

 private:
  using Bytes = std::vector<std::uint8_t>;
  using Key = std::pair<std::string, std::uint16_t>;  // A name and a record type.

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
