// Ports for what a test starts, shared with no other test. All ports are below 32768: the system
// gives higher ports to outgoing connections at any moment.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/fd.h"
#include "os/host.h"
#include "os/listener.h"

namespace rota::testing {

// A hundred ports for one job. No other run of these tests gets them while this object lives.
class OwnPorts {
 public:
  OwnPorts() {
    const unsigned begin = 22000 + static_cast<unsigned>(os::own_process()) * 100 % 10000;
    for (first_ = begin; first_ < 32700; first_ += 100) {
      claim_ = os::claim_port(static_cast<std::uint16_t>(first_));
      if (claim_) return;
    }
    ADD_FAILURE() << "no hundred ports are free from " << begin << " on";
  }

  std::string first() const { return port(0); }

  // Returns one of the hundred, counted from 0.
  std::string port(unsigned number) const { return std::to_string(first_ + number); }
  std::uint16_t number_of_port(unsigned number) const {
    return static_cast<std::uint16_t>(first_ + number);
  }

  // Returns the first `count` ports, in the form of --ports.
  std::string range(unsigned count = 100) const {
    return first() + "-" + std::to_string(first_ + count - 1);
  }

 private:
  unsigned first_ = 0;
  std::optional<os::Fd> claim_;
};

// Returns addresses on loopback where nobody listens. No other run of these tests gets these
// addresses while this process runs. Only one thread at a time may call this.
inline std::vector<std::string> free_addresses(std::size_t count) {
  static std::vector<os::Fd> claims;
  static unsigned next = 12000 + static_cast<unsigned>(os::own_process()) * 16 % 8000;
  std::vector<std::string> addresses;
  for (; addresses.size() < count && next < 21000; ++next) {
    std::optional<os::Fd> claim = os::claim_port(static_cast<std::uint16_t>(next));
    if (!claim) continue;
    claims.push_back(std::move(*claim));
    addresses.push_back("127.0.0.1:" + std::to_string(next));
  }
  EXPECT_EQ(addresses.size(), count) << "too few ports are free below 21000";
  return addresses;
}

}  // namespace rota::testing
