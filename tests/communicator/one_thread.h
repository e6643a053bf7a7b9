// What a call says that another thread makes than the one that may.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <rota/error.h>

namespace rota::testing {

// `what`: of it, one thread alone may be in use.
template <class Call>
void expect_refused_elsewhere(const std::string& what, Call call) {
  std::thread([&] {
    try {
      call();
      FAIL() << "another thread was let in";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(std::string(error.what()),
                what + " takes one thread: call from the one that made the communicator");
    }
  }).join();
}

}  // namespace rota::testing
