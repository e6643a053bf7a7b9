// The objects in shared memory lie at the same offsets on every machine. Ranks of one machine may
// be programs of different compilers or processors: an emulator can run a rank beside native ones.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "collectives/shared/flags_page.h"
#include "collectives/shared/offer.h"
#include "collectives/shared/scatter_list.h"
#include "transport/shm/arena_layout.h"
#include "wire/digits.h"

namespace rota::testing {
namespace {

TEST(SharedMemoryLayout, AMailboxIsThreeLines) {
  using transport::shm::Mailbox;
  EXPECT_EQ(offsetof(Mailbox, published), 0U);
  EXPECT_EQ(offsetof(Mailbox, offset), 8U);
  EXPECT_EQ(offsetof(Mailbox, ring_bytes), 16U);
  EXPECT_EQ(offsetof(Mailbox, header), 24U);
  EXPECT_EQ(offsetof(Mailbox, staged), 64U);
  EXPECT_EQ(offsetof(Mailbox, taken), 128U);
  EXPECT_EQ(offsetof(Mailbox, unstaged), 136U);
  EXPECT_EQ(sizeof(Mailbox), 192U);
}

TEST(SharedMemoryLayout, AControlPageHasTheAbortWordFirst) {
  using transport::shm::ControlPage;
  EXPECT_EQ(offsetof(ControlPage, abort_word), 0U);
  EXPECT_EQ(offsetof(ControlPage, left), 1036U);
  EXPECT_EQ(offsetof(ControlPage, shared), 1088U);
  EXPECT_EQ(offsetof(ControlPage, doorbell_flag), 3136U);
  EXPECT_EQ(offsetof(transport::shm::DoorbellFlag, count), 0U);
  EXPECT_EQ(offsetof(transport::shm::DoorbellFlag, asleep), 8U);
  EXPECT_EQ(sizeof(ControlPage), 3200U);
}

TEST(SharedMemoryLayout, TheFrontOfAnArenaIsWholePagesOf4096Bytes) {
  EXPECT_EQ(transport::shm::front_bytes(1), 8192U);
  EXPECT_EQ(transport::shm::front_bytes(21), 8192U);
  EXPECT_EQ(transport::shm::front_bytes(22), 12288U);
}

// Only the payload begins at a page of the machine, which may be larger.
TEST(SharedMemoryLayout, ThePayloadBeginsAtAPageOfTheMachine) {
  for (const std::size_t page : {4096, 16384, 65536}) {
    for (const std::size_t ranks : {1, 21, 22, 64, 4096}) {
      const std::size_t payload = transport::shm::payload_offset(ranks, page);
      EXPECT_EQ(payload % page, 0U);
      EXPECT_GE(payload, transport::shm::front_bytes(ranks));
      EXPECT_LT(payload, transport::shm::front_bytes(ranks) + page);
    }
  }
  EXPECT_EQ(transport::shm::payload_offset(1, 16384), 16384U);
}

TEST(SharedMemoryLayout, AnAbortWordHasTheCause) {
  alignas(64) std::array<std::byte, sizeof(transport::shm::AbortWord)> memory{};
  auto& word = *reinterpret_cast<transport::shm::AbortWord*>(memory.data());
  word.begin(2);
  word.tell({.rank = 2, .code = ErrorCode::kTimeout, .blamed = 5, .text = "why"});
  const std::string digits = digits_of(memory);
  EXPECT_EQ(digits.substr(0, 32), joined({"03000080", "03000000", "05000000", "77687900"}));
  EXPECT_EQ(memory.size(), 12U + 1024U);
}

TEST(SharedMemoryLayout, AFlagsPageHasItsPostsFirst) {
  using collectives::FlagsPage;
  constexpr std::size_t kPostBytes = 64 * FlagsPage::kPosts;
  EXPECT_EQ(std::size_t{FlagsPage::kPosts}, 16U);
  EXPECT_EQ(offsetof(FlagsPage, posts), 0U);
  EXPECT_EQ(offsetof(FlagsPage, shares), kPostBytes);
  EXPECT_EQ(offsetof(FlagsPage, segments), kPostBytes + 8);
  EXPECT_EQ(offsetof(FlagsPage, stage), kPostBytes + 16);
  EXPECT_EQ(offsetof(FlagsPage, signatures), kPostBytes + 64);
  EXPECT_EQ(offsetof(collectives::Post, content), 8U);
}

TEST(SharedMemoryLayout, AnOfferFitsThePost) {
  const collectives::Offer offer{.from = 0x0102030405060708,
                                 .to = 2,
                                 .factor = 0.5,
                                 .is_list = 1,
                                 .is_staged = 0,
                                 .signature = {3, 4, 5}};
  EXPECT_EQ(digits_in_memory(offer),
            joined({"0807060504030201", "0200000000000000", "000000000000e03f", "01000000",
                    "00000000", "0300000000000000", "0400000000000000", "0500000000000000"}));
}

TEST(SharedMemoryLayout, AListOfPartsHasPairsOfWords) {
  using collectives::ScatterList;
  EXPECT_EQ(offsetof(ScatterList, count), 0U);
  EXPECT_EQ(offsetof(ScatterList, parts), 8U);
  EXPECT_EQ(digits_in_memory(ScatterList::Part{.offset = 1, .bytes = 2}),
            "01000000000000000200000000000000");
}

}  // namespace
}  // namespace rota::testing
