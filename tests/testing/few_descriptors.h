// Lowers the limit of open descriptors. Containers and shells may set such low limits.
#pragma once
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "base/time.h"
#include "os/fd.h"

namespace rota::testing {

// Calls `make` while the limit is `count`, and returns its result.
template <class Make>
auto with_descriptor_limit(rlim_t count, Make make) {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = count, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  auto made = make();
  ::setrlimit(RLIMIT_NOFILE, &before);
  return made;
}

// Returns how many of `sockets` the other side has closed. Waits up to 5 s until `expected` sockets
// are closed.
inline std::size_t ended_count(const std::vector<os::Fd>& sockets, std::size_t expected) {
  const auto end = base::Clock::now() + std::chrono::seconds(5);
  for (;;) {
    std::vector<pollfd> items;
    items.reserve(sockets.size());
    for (const os::Fd& socket : sockets) items.push_back({socket.get(), POLLRDHUP, 0});
    ::poll(items.data(), items.size(), 1);
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(items, [](const pollfd& item) { return item.revents != 0; }));
    if (count >= expected || base::Clock::now() > end) return count;
  }
}

}  // namespace rota::testing
