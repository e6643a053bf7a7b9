// Tests for how long a peer's kernel has sent nothing, on which it depends whether a host is lost.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/time.h"
#include "os/address.h"
#include "os/listener.h"
#include "os/tcp_socket.h"

namespace rota::os {
namespace {

constexpr std::chrono::milliseconds kPause{20};
constexpr std::array kByte{std::byte{1}};

// Lets a packet pass if it has no data: if it is not longer than its TCP header.
constexpr std::array<sock_filter, 9> kLosesData = {{
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 12),
    BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 2),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x3c),
    BPF_STMT(BPF_MISC | BPF_TAX, 0),
    BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
    BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 0xffff'ffff),
    BPF_STMT(BPF_RET | BPF_K, 0),
}};

// Two ends of a TCP connection. The peer's kernel loses all data that is sent to it.
class DeafPeer : public ::testing::Test {
 protected:
  void SetUp() override {
    const Listener listener = listen_at("127.0.0.1:0");
    Connecting calling = start_connect(parse_address(listener.address));
    ASSERT_EQ(calling.failure, std::nullopt);
    std::optional<Accepted> accepted;
    const auto deadline = base::Clock::now() + std::chrono::seconds(10);
    do accepted = accept_connection(listener.socket.get());
    while (!accepted->socket && base::Clock::now() < deadline);
    ASSERT_TRUE(accepted->socket) << accepted->lack;
    ASSERT_EQ(connect_result(calling.socket.get()), std::nullopt);
    own_ = std::move(calling.socket);
    peer_ = std::move(accepted->socket);
    set_no_delay(own_.get());
    set_no_delay(peer_.get());
    auto filter = kLosesData;
    const sock_fprog program = {filter.size(), filter.data()};
    ASSERT_EQ(::setsockopt(peer_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
    ASSERT_EQ(send_some(own_.get(), kByte, {}).bytes, 1U);
  }

  Fd own_;
  Fd peer_;
};

TEST_F(DeafPeer, ThatSendsNothingHasSentNothingForTheWholeTime) {
  std::this_thread::sleep_for(10 * kPause);
  const auto silence = unacknowledged_for(own_.get());
  ASSERT_TRUE(silence);
  EXPECT_GE(*silence, 9 * kPause);
}

// A kernel that sends data is there, although a message to it was lost.
TEST_F(DeafPeer, ThatSendsDataIsThere) {
  base::TimePoint last_sent_at;
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(kPause);
    last_sent_at = base::Clock::now();
    ASSERT_EQ(send_some(peer_.get(), kByte, {}).bytes, 1U);
  }
  const auto silence = unacknowledged_for(own_.get());
  ASSERT_TRUE(silence);
  EXPECT_LE(*silence, base::Clock::now() - last_sent_at + kPause);  // The kernel rounds times.
}

}  // namespace
}  // namespace rota::os
