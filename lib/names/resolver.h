// Resolves names without blocking. Numeric addresses, names in /etc/hosts and localhost need no
// query; all other names are looked up at the name servers.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "os/address.h"
#include "os/poll_set.h"

namespace rota::names {

struct Options {
  std::string resolv_conf = "/etc/resolv.conf";  // Read for each question, like `hosts`.
  std::string hosts = "/etc/hosts";
  std::vector<os::Address> servers;          // If not empty, replace those of resolv.conf.
  std::chrono::milliseconds patience{2000};  // Timeout for each server and each name.
};

// The answer to one question. If it is empty, the same question may succeed later.
struct Answer {
  std::vector<os::Address> addresses;  // The best first, by RFC 6724.
  std::string failure;                 // Why there is nothing, such as "no record yet (…)".
};

// Handles one question at a time, and remembers nothing between questions.
class Resolver {
 public:
  explicit Resolver(Options options = {});
  Resolver(Resolver&& other) noexcept;
  Resolver& operator=(Resolver&& other) noexcept;
  ~Resolver();

  // Asks for the addresses of "host:port". Replaces the current question. Throws Error
  // kInvalidArgument for a string of another form, kSystem.
  void ask_addresses(const std::string& address);

  bool is_asking() const noexcept;

  // Runs one iteration of an event loop. Never blocks. advance() returns the answer once, and
  // throws Error kSystem.
  void add_to(os::PollSet& polls) const;
  std::optional<Answer> advance();
  std::optional<base::TimePoint> next_deadline() const;

 private:
  class Question;

  Options options_;
  std::unique_ptr<Question> question_;  // The question to name servers.
  std::optional<Answer> answer_;        // An answer that needed no name server.
};

// Waits for the addresses of "host:port", at most Options::patience for each server and each name.
// Throws what Resolver throws.
Answer resolve(const std::string& address, const Options& options = {});

}  // namespace rota::names
