// Runs a piece of code in the child of a fork, and brings back what it says: for example, which of
// the parent's objects it may use.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <rota/error.h>

#include "testing/error_of.h"

namespace rota::testing {

// Returns what `body` returns in a child of this process. Returns nothing if the child does not end
// as _exit(0) ends it: it may hang, or crash. `body` may destroy what the parent has made.
template <class Body>
std::optional<std::string> said_by_child(Body body) {
  constexpr unsigned kMostSeconds = 20;  // Only a hang takes longer.
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    const std::string said = body();
    const bool is_written = ::write(pipe[1], said.data(), said.size()) >= 0;
    ::_exit(is_written ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  ::close(pipe[1]);
  std::string said(4096, '\0');
  const auto bytes = ::read(pipe[0], said.data(), said.size());
  ::close(pipe[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status != 0 || bytes < 0) return std::nullopt;
  said.resize(static_cast<std::size_t>(bytes));
  return said;
}

struct NamedCall {
  std::string name;
  std::function<void()> call;
};

// Returns which calls are not refused in the child of a fork, and what they say. Returns nothing if
// all are refused. `what` is the object that was made before the fork, as the refusal names it.
inline std::string not_refused(const std::string& what, const std::vector<NamedCall>& calls) {
  const std::string refusal = what +
                              " was made before the fork of this process, and works only in the "
                              "process that made it: use it there";
  std::string text;
  for (const auto& [name, call] : calls) {
    const auto error = error_of(call);
    const bool is_refused =
        error && error->code() == ErrorCode::kInvalidArgument && error->what() == refusal;
    if (!is_refused) text += name + ": " + (error ? error->what() : "accepted") + "\n";
  }
  return text;
}

}  // namespace rota::testing
