// Tests the shared-memory transport: the receiver reads shared memory in place, and other memory
// goes through a staging buffer. A rank does not trust the values that a peer writes into shared
// words.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "os/host.h"
#include "transport/shm/transport.h"

namespace rota::transport::shm {
namespace {

class ShmTest : public ::testing::Test {
 protected:
  explicit ShmTest(std::size_t page_bytes = os::page_bytes())
      : domain_(make_thread_arenas(2, std::size_t{8} << 20, page_bytes)) {}

  // Moves one message from rank 0 to rank 1. This thread drives both ranks.
  std::vector<std::byte> pass(std::span<const std::byte> payload) {
    auto& to = ranks_[0].channel(1);
    auto& from = ranks_[1].channel(0);
    to.start_send({.bytes = payload.size(), .signature = {1, 2, 3, 4}}, payload);
    EXPECT_NE(from.incoming(), nullptr);
    EXPECT_EQ(from.incoming()->signature[3], 4U);
    std::vector<std::byte> received(payload.size());
    std::size_t done = 0;
    while (done < received.size()) {
      done += from.receive(std::span(received).subspan(done));
      EXPECT_EQ(to.progress_send() == Progress::kDone, false);
    }
    from.finish_receive();
    EXPECT_EQ(from.incoming(), nullptr);
    EXPECT_EQ(to.progress_send(), Progress::kDone);
    return received;
  }

  std::shared_ptr<Domain> domain_;
  std::deque<Transport> ranks_ = [this] {
    std::deque<Transport> ranks;
    ranks.emplace_back(domain_, 0, std::vector<std::size_t>{4, 9});
    ranks.emplace_back(domain_, 1, std::vector<std::size_t>{4, 9});
    return ranks;
  }();
};

std::vector<std::byte> pattern(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

TEST_F(ShmTest, SharedMemoryIsReadWhereItLies) {
  const auto bytes = pattern(100000);
  const Block block = ranks_[0].allocate(bytes.size());
  std::memcpy(block.bytes().data(), bytes.data(), bytes.size());
  EXPECT_EQ(pass(block.bytes()), bytes);
  EXPECT_EQ(ranks_[0].staged_bytes(), 0U);
  EXPECT_EQ(ranks_[0].sent_bytes(), bytes.size());
}

TEST_F(ShmTest, PrivateMemoryIsStagedAndCounted) {
  std::size_t total = 0;
  for (const std::size_t count : {1UL, 1000UL, 262144UL, 262145UL, 1000003UL}) {
    const auto bytes = pattern(count);
    EXPECT_EQ(pass(bytes), bytes);
    total += count;
    EXPECT_EQ(ranks_[0].staged_bytes(), total);
    EXPECT_EQ(ranks_[0].sent_bytes(), total);
  }
}

// After an odd number of floats, the end of the ring buffer must not split a double.
TEST_F(ShmTest, ElementsAreWholeInEveryView) {
  pass(pattern(4 * 1001));
  const auto bytes = pattern(1 << 20);
  auto& to = ranks_[0].channel(1);
  auto& from = ranks_[1].channel(0);
  to.start_send({.bytes = bytes.size(), .signature = {}}, bytes);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto view = from.peek();
    const std::size_t whole = view.size() / sizeof(double) * sizeof(double);
    ASSERT_GT(whole, 0U) << "after " << done << " bytes";
    ASSERT_EQ(std::memcmp(view.data(), bytes.data() + done, whole), 0);
    from.release(whole);
    done += whole;
    to.progress_send();
  }
}

TEST_F(ShmTest, AMessageWithoutPayloadArrives) { EXPECT_EQ(pass({}), std::vector<std::byte>{}); }

TEST_F(ShmTest, APeerThatPointsOutsideOfItsArenaIsRefused) {
  const Block block = ranks_[0].allocate(64);
  ranks_[0].channel(1).start_send({.bytes = 64, .signature = {}}, block.bytes());
  for (const std::uint64_t offset : {std::uint64_t{8} << 20, ~std::uint64_t{0} - 8}) {
    domain_->mailbox(0, kPage, 1).offset = offset;
    try {
      ranks_[1].channel(0).peek();
      ADD_FAILURE() << "the peer's offset " << offset << " was accepted";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "rank 4 points outside of its shared arena");
      EXPECT_EQ(error.blamed_rank(), 4U);
    }
  }
}

// Shared memory has no end of a stream. The bytes that the peer had published are still there.
TEST_F(ShmTest, APeerThatEndedLooksLikeOneThatIsSilent) {
  ASSERT_FALSE(ranks_[0].ends_by_itself(1));
  ranks_[1].channel(0).start_send({.bytes = 0, .signature = {}}, {});
  ranks_.pop_back();
  auto& channel = ranks_[0].channel(1);
  EXPECT_NE(channel.incoming(), nullptr);
  channel.finish_receive();
  EXPECT_EQ(channel.incoming(), nullptr);
}

TEST_F(ShmTest, TheFirstCauseWins) {
  EXPECT_FALSE(ranks_[1].aborted());
  ranks_[0].abort({.rank = 0, .code = ErrorCode::kTimeout, .blamed = 1, .text = "first"});
  ranks_[1].abort({.rank = 1, .code = ErrorCode::kMismatch, .blamed = {}, .text = "second"});
  const auto cause = ranks_[1].aborted();
  ASSERT_TRUE(cause);
  EXPECT_EQ(cause->rank, 0U);
  EXPECT_EQ(cause->code, ErrorCode::kTimeout);
  EXPECT_EQ(cause->blamed, 1U);
  EXPECT_EQ(cause->text, "first");
}

TEST_F(ShmTest, ALongCauseIsCutNotSpilled) {
  ranks_[0].abort(
      {.rank = 0, .code = ErrorCode::kAborted, .blamed = {}, .text = std::string(5000, 'x')});
  EXPECT_EQ(ranks_[1].aborted()->text.size(), AbortWord::kTextBytes - 1);
}

TEST_F(ShmTest, ALongCauseEndsWithAWholeCharacter) {
  const std::string whole(AbortWord::kTextBytes - 2, 'x');
  ranks_[0].abort({.rank = 0, .code = ErrorCode::kAborted, .blamed = {}, .text = whole + "é"});
  EXPECT_EQ(ranks_[1].aborted()->text, whole);
}

// Kernels of ARM have pages of 4, 16 or 64 KiB. Method: the size of a page is given, and is at
// least that of this machine.
class PageSizeTest : public ShmTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  PageSizeTest() : ShmTest(page()) {}

  static std::size_t page() { return std::max(GetParam(), os::page_bytes()); }
};

TEST_P(PageSizeTest, EachBlockBeginsAtAPageOfItsOwn) {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Block first = ranks_[rank].allocate(1);
    const Block second = ranks_[rank].allocate(page() + 1);
    const Block third = ranks_[rank].allocate(1);
    const auto offset =
        static_cast<std::size_t>(first.bytes().data() - domain_->bytes(rank).data());
    EXPECT_EQ(offset % page(), 0U);
    EXPECT_GE(offset, payload_offset(ranks_.size(), page()));
    EXPECT_EQ(second.bytes().data(), first.bytes().data() + page());
    EXPECT_EQ(third.bytes().data(), second.bytes().data() + 2 * page());
  }
}

// On 32 bits, a mapping may begin at any page of the machine.
TEST_P(PageSizeTest, ArenasBeginAtPages) {
  if constexpr (sizeof(void*) == 8) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const auto address = reinterpret_cast<std::uintptr_t>(domain_->bytes(rank).data());
      EXPECT_EQ(address % page(), 0U) << "rank " << rank;
    }
  }
}

TEST_P(PageSizeTest, MessagesArriveFromSharedAndFromPrivateMemory) {
  const auto bytes = pattern(300007);
  const Block block = ranks_[0].allocate(bytes.size());
  std::memcpy(block.bytes().data(), bytes.data(), bytes.size());
  EXPECT_EQ(pass(block.bytes()), bytes);
  EXPECT_EQ(ranks_[0].staged_bytes(), 0U);
  EXPECT_EQ(pass(bytes), bytes);
  EXPECT_EQ(ranks_[0].staged_bytes(), bytes.size());
}

TEST_P(PageSizeTest, AnArenaWithoutAPageForThePayloadIsRefused) {
  const std::size_t front = payload_offset(2, page());
  EXPECT_THROW(make_thread_arenas(2, front, page()), Error);
  EXPECT_NO_THROW(make_thread_arenas(2, front + page(), page()));
}

INSTANTIATE_TEST_SUITE_P(Pages, PageSizeTest,
                         ::testing::Values(std::size_t{4096}, std::size_t{16384},
                                           std::size_t{65536}));

// With 32-bit addresses, threads divide a GiB. A third of it is not a whole number of pages.
TEST(ThreadArenas, AreWholePagesOnEveryKernel) {
  for (std::size_t count = 1; count <= 7; ++count) {
    EXPECT_EQ(thread_arena_bytes(count) % 65536, 0U) << count << " threads";
  }
}

}  // namespace
}  // namespace rota::transport::shm
