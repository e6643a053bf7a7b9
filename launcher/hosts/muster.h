// Who of the other hosts has come to the meeting. A machine without a clock or a socket.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/hosts/dispatch.h"
#include "launcher/hosts/meeting.h"

namespace rota::launcher {

// Why a host may not take part, and the exit code that it ends with.
struct Refusal {
  int exit_code = 0;
  std::string why;
};

class Muster {
 public:
  // `own`: how the leader would introduce itself. Outside of the ring hosts are welcome, and not
  // waited for.
  Muster(const Meeting& meeting, Hello own);

  // Empty where the host is in from now on.
  std::optional<Refusal> on_hello(std::size_t host, const Hello& hello);

  // Its connection has ended; it may come again.
  void on_lost(std::size_t host);

  bool is_complete() const { return absent().empty(); }
  bool is_here(std::size_t host) const { return hosts_[host].has_value(); }

  // Of one that is here.
  const Hello& hello(std::size_t host) const { return *hosts_[host]; }

  // What keeps one of those who are here, host 0 included, from running the program.
  std::optional<Refusal> obstacle() const;

  // What those who are here differ in without being kept from it, such as their programs.
  std::vector<std::string> warnings() const;

  // "2 of 4 hosts: host 1 (b:2222), host 3 (d:2222)".
  std::string absent_text() const;

 private:
  std::vector<std::size_t> absent() const;

  const Meeting& meeting_;
  std::vector<std::optional<Hello>> hosts_;
};

}  // namespace rota::launcher
