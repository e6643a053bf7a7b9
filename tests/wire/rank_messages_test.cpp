// The messages of ranks have the same bytes on every machine: ranks of different processors can
// join one job.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "auth/conversation.h"
#include "auth/frame_seal.h"
#include "checkpoint/copies.h"
#include "collectives/description.h"
#include "communicator/cards.h"
#include "communicator/first_word.h"
#include "communicator/rank_zero.h"
#include "formats/records.h"
#include "os/stream_pair.h"
#include "rendezvous/job.h"
#include "rendezvous/message.h"
#include "rendezvous/remote_connection.h"
#include "rendezvous/table_text.h"
#include "transport/channel.h"
#include "transport/fabric.h"
#include "wire/digits.h"

namespace rota::testing {
namespace {

TEST(RankMessages, AHeaderIsFiveWords) {
  const transport::Header header{.bytes = 0x0102030405060708,
                                 .signature = {0x1112131415161718, 0x2122232425262728,
                                               0x3132333435363738, 0x4142434445464748}};
  EXPECT_EQ(digits_in_memory(header),
            "0807060504030201"
            "1817161514131211"
            "2827262524232221"
            "3837363534333231"
            "4847464544434241");
}

TEST(RankMessages, ASignatureHasTheKindsRootCountAndSequence) {
  collectives::Signature signature({.collective = collectives::Collective::kBroadcast,
                                    .algorithm = collectives::Algorithm::kTree,
                                    .type = DataType::kFloat64,
                                    .count = 0x01020304,
                                    .root = 0x0a0b0c0d,
                                    .reduction = ReduceOp::kMax,
                                    .codec = Codec::kInt8},
                                   0);
  signature.set_sequence(7);
  const auto type = static_cast<std::byte>(DataType::kFloat64);
  const auto kinds = static_cast<std::byte>(static_cast<unsigned>(ReduceOp::kMax) |
                                            static_cast<unsigned>(Codec::kInt8) << 4);
  EXPECT_EQ(digits_in_memory(signature.words()),
            joined({"08", "04", digits_in_memory(type), digits_in_memory(kinds), "0d0c0b0a",
                    "0403020100000000", "0700000000000000", zeros(8)}));
}

TEST(RankMessages, ATicketIsFourWords) {
  const transport::Ticket ticket{.port = 0x0102, .place = {1, 0x1112131415161718, 3}};
  EXPECT_EQ(digits_in_memory(ticket),
            "0201000000000000"
            "0100000000000000"
            "1817161514131211"
            "0300000000000000");
}

TEST(RankMessages, AMessageToTheCoordinatorHasEachField) {
  const rendezvous::Message message{.type = rendezvous::MessageType::kReply,
                                    .id = 0xdeadbeef,
                                    .error = ErrorCode::kTimeout,
                                    .blamed = 3,
                                    .timeout = std::chrono::nanoseconds(0x0102030405060708),
                                    .step = 0x1112131415161718,
                                    .key = "key",
                                    .text = "why"};
  EXPECT_EQ(digits_of(encode(message)),
            joined({"02", "0d", "efbeadde", "03", "03000000", "0807060504030201",
                    "1817161514131211", text("key"), text("why")}));
  EXPECT_EQ(digits_of(encode(rendezvous::Message{})),
            joined({"02", "01", "00000000", "00", "ffffffff", zeros(16), zeros(4), zeros(4)}));
}

TEST(RankMessages, AFrameBetweenHostsHasALengthAndATag) {
  auto [own, peers] = os::make_stream_pair();
  const auth::SessionKeys keys{.to_peer = auth::some_key(1), .from_peer = auth::some_key(2)};
  rendezvous::RemoteConnection connection(std::move(own), keys);
  ASSERT_EQ(connection.send(base::bytes_of("hello"), {}), os::Io::kDone);
  std::vector<char> arrived(100);
  const auto result = os::receive_available(peers.get(), arrived);
  const std::string frame = digits_of(std::string_view(arrived.data(), result.count));
  const auto tag = auth::FrameSeal(keys.to_peer).next_tag(auth::from_hex("0500000068656c6c6f"));
  EXPECT_EQ(frame, joined({text("hello"), digits_of(tag)}));
  EXPECT_EQ(digits_of(tag), "b4fb7ad081ee5e6e0a433eae18adee43");
}

TEST(RankMessages, AJobEndsWithItsKey) {
  rendezvous::Job job;
  job.rank = 1;
  job.key = auth::some_key(0x40);
  job.deadline = std::chrono::nanoseconds(0x0102030405060708);
  job.may_spin = true;
  job.encrypts = true;
  job.incarnation = 0x1112131415161718;
  const std::string encoded = encode(job, {.bytes = 5, .hash = 0x2122232425262728});
  EXPECT_EQ(digits_of(encoded),
            joined({"0100000000000000", "0807060504030201", "01", "00", "01", "01",
                    "1817161514131211", "0500000000000000", "2827262524232221",
                    digits_of(auth::counting(auth::kKeyBytes, 0x40))}));
}

TEST(RankMessages, ATableHasItsRowsAndDomains) {
  RankTable table{.epoch = 3, .source = "hosts", .transport = "shm+tcp", .tuned = "/t"};
  table.rows = {{0, "a", "10.0.0.1:1", "0-3"}, {1, "a", "10.0.0.1:2", ""}, {0, "b", "", ""}};
  const std::string encoded = rendezvous::encode_table(table, {0, 0, 1});
  EXPECT_EQ(digits_of(encoded),
            joined({"0300000000000000", text("hosts"),      text("shm+tcp"), text("/t"),
                    "03000000",         zeros(8),           text("a"),       text("10.0.0.1:1"),
                    text("0-3"),        "0100000000000000", text("a"),       text("10.0.0.1:2"),
                    text(""),           zeros(8),           text("b"),       text(""),
                    text(""),           "00000000",         "00000000",      "01000000"}));
  const auto mark = rendezvous::mark_of("text");
  EXPECT_EQ(mark.bytes, 4U);
  EXPECT_EQ(mark.hash, 0xfa04f4ef1995407eU);  // FNV-1a.
}

TEST(RankMessages, ACallOfAConnectionIsBigEndian) {
  const auth::Conversation talk = auth::accepted_conversation();
  const std::string id = digits_of(auth::key_id(auth::some_key()));
  const std::string challenge = digits_of(talk.challenge);
  const std::string call = digits_of(talk.call);
  const std::string verdict = digits_of(talk.verdict);
  EXPECT_EQ(challenge.substr(0, 16), "524f544100010100");
  EXPECT_EQ(challenge.size(), 2 * (8 + 32U));
  EXPECT_EQ(call.substr(0, call.size() - 2 * 64),
            joined({"524f544100010101", id, "01", "01", "02", digits_of(auth::counting(16, 0x40)),
                    "3132333435363738", "0102030405060708", "11121314", "21222324"}));
  EXPECT_EQ(verdict.substr(0, verdict.size() - 2 * 32),
            joined({"524f544100010102", "01", "01", "01", "3132333435363738", zeros(200)}));
}

TEST(RankMessages, ACardAndTheFirstWordsAreTexts) {
  EXPECT_EQ(digits_of(encode(Card{.domain = "m/0",
                                  .host = "a",
                                  .local_name = "@x:0",
                                  .rank_0_host = "10.0.0.1",
                                  .cpus = cpu_bits({0, 9})})),
            joined({text("m/0"), text("a"), text("@x:0"), text("10.0.0.1"), "02000000", "0102"}));
  EXPECT_EQ(digits_of(encode(FirstWord{
                .rota = "rota 1", .plan = "ring", .tuned_file = "/t", .tuned_text = "text"})),
            joined({text("rota 1"), text("ring"), text("/t"), text("text")}));
  EXPECT_EQ(encode(RankZero{.machine = "m", .places = {"10.0.0.1:1", "@x:0"}, .key = "0a"}),
            "rota1;m;0a;10.0.0.1:1,@x:0");
}

TEST(RankMessages, CopiesOfCheckpointsAreCounted) {
  base::ByteWriter out;
  write(out, checkpoint::Copies{.has_checkpoints = true, .named = {}, .prepared = {}});
  EXPECT_EQ(digits_of(out.take()), joined({"01", zeros(8), zeros(8)}));
}

// TensorFlow's format: a length in eight bytes, and the masked sums of the length and the data.
TEST(RankMessages, ARecordHasALengthAndTwoSums) {
  std::string file;
  formats::append_record(file, "hello");
  EXPECT_EQ(digits_of(file), joined({"0500000000000000", "eab2043e",
                                     digits_of(std::string_view("hello")), "bb1f1c19"}));
}

}  // namespace
}  // namespace rota::testing
