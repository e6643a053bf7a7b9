// Asks the system for the addresses of all interfaces.
#include "os/link_local.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <memory>
#include <utility>

#include "os/address.h"
#include "os/system_error.h"

namespace rota::os {

std::vector<std::string> own_link_local_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw_errno("getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> interfaces(first, ::freeifaddrs);
  std::vector<std::string> numbers;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET6) continue;
    std::string number = Address(each->ifa_addr, sizeof(sockaddr_in6)).host();
    if (number.find('%') != std::string::npos) numbers.push_back(std::move(number));
  }
  return numbers;
}

}  // namespace rota::os
