// Asks what a name stands for, without ever waiting: numbers and this host's own names at once, all
// others at the name servers.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::names {

struct Options {
  std::string resolv_conf = "/etc/resolv.conf";  // Looked at for each question, as is the next.
  std::string hosts = "/etc/hosts";
  std::vector<os::Address> servers;  // In place of those of resolv.conf.
  std::chrono::milliseconds patience{
      2000};  // With each server, for each name that it is asked for.
};

// Where a service is, as an SRV record says it.
struct Target {
  std::string host;  // Whole, and without its last dot.
  std::uint16_t port = 0;

  friend bool operator==(const Target&, const Target&) = default;
};

// An answer to one question. Where it has nothing, the same question may fare better later.
struct Answer {
  std::vector<os::Address> addresses;  // The best first, by RFC 6724.
  std::vector<Target> targets;         // Numbers in their names as numbers: mnist-9, mnist-10.
  std::string failure;                 // Why there is nothing, such as "no record yet (…)".
};

// One question at a time, and nothing remembered from one to the next.
class Resolver {
 public:
  explicit Resolver(Options options = {});
  Resolver(Resolver&& other) noexcept;
  Resolver& operator=(Resolver&& other) noexcept;
  ~Resolver();

  // What "host:port" stands for. In place of what was being asked. Throws Error kInvalidArgument
  // for a text of another form, kSystem.
  void ask_addresses(const std::string& address);

  // Where "_port._tcp.service" is. In place of what was being asked. Throws Error kSystem.
  void ask_targets(const std::string& service);

  bool is_asking() const noexcept;

  // One turn of a loop. Never blocks. The answer comes once. advance() throws Error kSystem.
  void add_to(os::PollSet& polls) const;
  std::optional<Answer> advance();
  std::optional<base::TimePoint> next_deadline() const;

 private:
  class Question;

  Options options_;
  std::unique_ptr<Question> question_;  // To name servers.
  std::optional<Answer> answer_;        // Which needed none.
};

// Waits for what "host:port" stands for; no longer than Options::patience with each server for each
// name. Throws what Resolver throws.
Answer resolve(const std::string& address, const Options& options = {});

}  // namespace rota::names
