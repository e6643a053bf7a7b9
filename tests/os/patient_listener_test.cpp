// A process waits for a port that another process is about to release.
#include "os/patient_listener.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>

#include "testing/error_of.h"
#include "testing/own_ports.h"

namespace rota::os {
namespace {

using std::chrono::milliseconds;

constexpr std::array kRequests{SIGTERM};
constexpr std::array kNotices{SIGCHLD};

TEST(PatientListener, ListensOnceThePortIsFree) {
  const SignalWatch signals(kRequests, kNotices);
  const Address address = parse_address(rota::testing::free_addresses(1).front());
  Listener held = listen_on(address);
  int try_count = 0;
  const auto listener = listen_patiently(
      [&] {
        if (++try_count == 3) held = {};
        return listen_on(address);
      },
      signals);
  ASSERT_TRUE(listener);
  EXPECT_EQ(listener->address, address.to_text());
  EXPECT_EQ(try_count, 3);
}

TEST(PatientListener, GivesUpWhenThePortStaysHeld) {
  const SignalWatch signals(kRequests, kNotices);
  const Listener held = listen_on_loopback();
  const base::TimePoint start = base::Clock::now();
  const auto listen = [&] { return listen_on(parse_address(held.address)); };
  const auto error =
      rota::testing::error_of([&] { listen_patiently(listen, signals, milliseconds(120)); });
  EXPECT_GE(base::Clock::now() - start, milliseconds(120));
  ASSERT_TRUE(error);
  EXPECT_EQ(std::string(error->what()),
            "bind to " + held.address + ": Address already in use (tried for 0.12 s)");
  EXPECT_THROW(listen_patiently(listen, milliseconds(120)), AddressInUse);
}

// The address is one of those for documentation, which no host has.
TEST(PatientListener, WaitsForNothingElse) {
  const SignalWatch signals(kRequests, kNotices);
  int try_count = 0;
  const auto listen = [&] {
    ++try_count;
    return listen_on(parse_address("192.0.2.1:0"));
  };
  EXPECT_THROW(listen_patiently(listen, signals), Error);
  EXPECT_EQ(try_count, 1);
}

TEST(PatientListener, EndsTheWaitForASignal) {
  SignalWatch signals(kRequests, kNotices);
  const Listener held = listen_on_loopback();
  const auto listener = listen_patiently(
      [&] {
        ::kill(::getpid(), SIGTERM);
        return listen_on(parse_address(held.address));
      },
      signals);
  EXPECT_FALSE(listener);
  const auto signal = signals.next();
  ASSERT_TRUE(signal);
  EXPECT_EQ(signal->number, SIGTERM);
}

}  // namespace
}  // namespace rota::os
