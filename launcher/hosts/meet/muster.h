// Who has come of the hosts that call this one, and of those below them; and what is to be told of
// it to the one that this host calls itself. A machine without a clock or a socket.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/hosts/meet/meeting.h"
#include "launcher/hosts/meet/routes.h"
#include "launcher/hosts/wire/dispatch.h"

namespace rota::launcher {

// Why a host may not take part, and the exit code that it ends with.
struct Refusal {
  int exit_code = 0;
  std::string why;
};

class Muster {
 public:
  // `meeting` outlives it. `own`: how this host would introduce itself. Outside of the ring hosts
  // are welcome, and not waited for.
  Muster(const Meeting& meeting, std::size_t own_host, Hello own);

  // How one that calls introduces itself, and those below it who have come to it by then. Empty
  // where it is in from now on.
  std::optional<Refusal> on_call(std::size_t host, const std::vector<HostText>& hellos);

  // From one that is in: more of those below it; and where the ranks that they were given are.
  void on_hellos(std::size_t child, const std::vector<HostText>& hellos);
  void on_seats(std::size_t child, const std::vector<HostText>& seats, const Routes& given);
  void set_own_seats(Seats seats);

  // Its connection has ended, and with it what was known of those below; they may come again.
  void on_lost(std::size_t host);

  // What the one above is to be told: of those who have come all at once or, where others take
  // long, as many as there are; and where the ranks are of all that are here. Each of them once.
  std::optional<Dispatch> take_hello(base::TimePoint now);
  std::optional<Dispatch> take_ready();
  std::optional<base::TimePoint> next_deadline() const noexcept { return tell_at_; }

  bool is_complete() const { return absent_count_ == 0; }
  bool is_here(std::size_t host) const;

  // Whether all that are here have said where their ranks are.
  bool is_seated() const;

  // Of one that is here; and that is seated.
  const Hello& hello(std::size_t host) const { return *places_.at(host).hello; }
  const Seats& seats(std::size_t host) const { return *places_.at(host).seats; }

  // What keeps one of those who are here, this host included, from running the program.
  std::optional<Refusal> obstacle() const;

  // What those who are here differ in without being kept from it, such as their programs.
  std::vector<std::string> warnings() const;

  // Who has not come of those that nobody else who is absent would tell of.
  std::vector<std::size_t> absent() const;

  // "2 of 4 hosts: host 1 (b:2222), host 3 (d:2222)".
  std::string absent_text() const;

 private:
  struct Place {
    bool is_expected = false;
    bool is_told = false;
    std::optional<Hello> hello;
    std::optional<Seats> seats;
  };

  std::optional<Refusal> judge(std::size_t host, const Hello& hello) const;
  void enter(std::size_t host, Hello hello);
  void clear(std::size_t host);

  const Meeting& meeting_;
  std::size_t own_host_;
  std::map<std::size_t, Place> places_;  // By host.
  std::size_t expected_count_ = 0;
  std::size_t absent_count_ = 0;  // Of those that are expected.
  bool is_ready_told_ = false;
  std::optional<base::TimePoint> tell_at_;  // Where some have come and others have not.
};

}  // namespace rota::launcher
