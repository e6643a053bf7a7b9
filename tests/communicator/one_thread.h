// Checks the error of a call from a thread that must not make it.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <rota/error.h>

namespace rota::testing {

// Expects that `call` throws on another thread than the right one. `what` is the error's name for
// the part that only one thread may use.
template <class Call>
void expect_refused_elsewhere(const std::string& what, Call call) {
  std::thread([&] {
    try {
      call();
      FAIL() << "a call from another thread was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(
          std::string(error.what()),
          what + " allows only one thread: call from the thread that created the communicator");
    }
  }).join();
}

}  // namespace rota::testing
