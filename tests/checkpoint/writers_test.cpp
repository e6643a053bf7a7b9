// Which ranks are a group of writers, and what one group sends another.
#include "checkpoint/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/copies.h"
#include "checkpoint/spread.h"

namespace rota::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const RunId kWritersRun = *run_id_from("11111111111111111111111111111111");
using Manifests = std::vector<std::optional<Manifest>>;

Writers writers_on(std::size_t rank, const std::vector<std::string>& hosts) {
  return {rank, hosts, hosts};
}

TEST(WritersTest, AreAllRanksOfASharedFolder) {
  const Writers all(2, {"a", "a", "b"});
  EXPECT_EQ(all.group_count(), 1U);
  EXPECT_EQ(all.index(), 2U);
  EXPECT_EQ(all.group_size(), 3U);
  EXPECT_FALSE(all.is_chief());
  EXPECT_EQ(all.name_of(2), "rank 2 on host b");
  EXPECT_EQ(all.told_by(0, "full"), "full");
  EXPECT_EQ(all.told_by(2, "full"), "rank 2 on host b: full");
}

TEST(WritersTest, AreTheRanksOfEachHost) {
  const std::vector<std::string> hosts = {"b", "a", "b", "c", "a"};
  std::vector<std::size_t> groups;
  std::vector<std::size_t> indices;
  std::vector<bool> chiefs;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const Writers each = writers_on(rank, hosts);
    EXPECT_EQ(each.world_size(), 5U);
    EXPECT_EQ(each.group_count(), 3U);
    EXPECT_EQ(each.group_of(4), 1U);
    EXPECT_EQ(each.chief_of(1), 1U);
    groups.push_back(each.group());
    indices.push_back(each.index());
    chiefs.push_back(each.is_chief());
  }
  EXPECT_THAT(groups, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_THAT(indices, ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(chiefs, ElementsAre(true, true, false, true, false));
  EXPECT_EQ(writers_on(0, hosts).group_size(), 2U);
  EXPECT_EQ(writers_on(3, hosts).group_size(), 1U);
  EXPECT_EQ(writers_on(0, hosts).told_by(0, "full"), "rank 0 on host b: full");
}

// Of a world of 4 ranks, with the own pieces of `ranks`. `stateful`: the ranks that had some.
Manifest copy_with(const std::vector<std::size_t>& ranks,
                   const std::vector<std::size_t>& stateful = {0, 1, 2, 3}) {
  Manifest manifest{
      .run = kWritersRun, .world_size = 4, .step = 7, .ranks = ranks, .stateful_ranks = stateful};
  manifest.files.push_back({.name = "parameters-00000-of-00001.safetensors", .bytes = 5});
  for (const std::size_t rank : ranks) {
    manifest.files.push_back(
        {.name = to_text(FileName{FileKind::kRank, rank, 4}), .bytes = 10 + rank});
  }
  return manifest;
}

// "0>2 parameters-…"
std::vector<std::string> sendings(const std::vector<std::string>& hosts, const Manifests& copies) {
  std::vector<std::string> all;
  const auto planned = plan_sendings(writers_on(0, hosts), copies);
  for (const Sending& sending : planned) {
    all.push_back(std::to_string(sending.from) + ">" + std::to_string(sending.to) + " " +
                  sending.file.name.substr(0, sending.file.name.find("-of-")));
  }
  for (std::size_t rank = 1; rank < hosts.size(); ++rank) {
    EXPECT_EQ(plan_sendings(writers_on(rank, hosts), copies), planned);
  }
  return all;
}

TEST(Spread, SendsNothingWhereAllHaveTheirs) {
  EXPECT_THAT(sendings({"a", "a", "b", "b"}, {copy_with({0, 1}), copy_with({2, 3})}), IsEmpty());
  EXPECT_THAT(sendings({"a", "a", "b", "b"}, Manifests(2)), IsEmpty());
}

TEST(Spread, SendsANewHostWhatAllShare) {
  const Manifests copies = {std::nullopt, copy_with({2, 3})};
  EXPECT_THAT(sendings({"a", "a", "b", "b"}, copies), ElementsAre("2>0 parameters-00000"));
  EXPECT_THAT(lost_ranks(copies), ElementsAre(0, 1));
}

// Saved by ranks 0 and 1 on one host and 2 and 3 on the other, restored by one rank on each.
TEST(Spread, SendsRanksWhatTheyAloneHadToAnotherHost) {
  const Manifests copies = {copy_with({0, 1}), copy_with({2, 3})};
  EXPECT_THAT(sendings({"a", "b"}, copies), ElementsAre("0>1 rank-00001", "1>0 rank-00002"));
  EXPECT_THAT(sendings({"b", "b", "a", "a"}, {copies[1], copies[0]}),
              ElementsAre("2>0 rank-00000", "2>1 rank-00001", "0>2 rank-00002", "0>3 rank-00003"));
  EXPECT_THAT(lost_ranks(copies), IsEmpty());
}

TEST(Spread, LosesNothingWhereRanksHaveNothingOfTheirOwn) {
  EXPECT_THAT(lost_ranks(Manifests{copy_with({}, {}), std::nullopt}), IsEmpty());
  EXPECT_THAT(lost_ranks(Manifests{copy_with({0}, {0})}), IsEmpty()) << "only rank 0 had a hook";
}

TEST(Spread, LosesWhatWasOnALostHostAlone) {
  EXPECT_THAT(lost_ranks(Manifests{copy_with({}, {2}), std::nullopt}), ElementsAre(2));
}

SaveName named_save(std::uint64_t step, std::uint64_t start = 1) {
  return {step, kWritersRun, start};
}

TEST(CopiesTest, ComeBackFromTheirBytes) {
  const Copies copies{true, {named_save(1), named_save(2, 3)}, {named_save(4)}};
  base::ByteWriter writer;
  write(writer, copies);
  const std::vector<std::byte> bytes = writer.take();
  base::ByteReader reader(bytes);
  const Copies read = read_copies(reader);
  EXPECT_TRUE(reader.ok() && reader.at_end());
  EXPECT_EQ(read.has_checkpoints, copies.has_checkpoints);
  EXPECT_EQ(read.named, copies.named);
  EXPECT_EQ(read.prepared, copies.prepared);
}

TEST(CopiesTest, AreCompletedIfEveryHostHasOne) {
  const Copies renamed{true, {named_save(2), named_save(1)}, {}};
  const Copies prepared{true, {named_save(1)}, {named_save(2)}};
  const Copies before{true, {named_save(1)}, {}};
  const Copies other_start{true, {named_save(2, 2), named_save(1)}, {}};
  const Copies damaged{true, {}, {}};
  const Copies nothing;
  const auto completed = [&](const std::vector<Copies>& others) {
    std::vector<Copies> all = others;
    all.push_back(prepared);
    return to_complete(prepared, all);
  };
  EXPECT_THAT(completed({renamed}), ElementsAre(named_save(2)));
  EXPECT_THAT(completed({prepared, renamed}), ElementsAre(named_save(2)));
  EXPECT_THAT(completed({nothing, renamed}), ElementsAre(named_save(2)));
  EXPECT_THAT(completed({nothing}), IsEmpty()) << "it may not have prepared its first copy";
  EXPECT_THAT(completed({renamed, before}), IsEmpty());
  EXPECT_THAT(completed({other_start}), IsEmpty());
  EXPECT_THAT(completed({damaged}), IsEmpty());
  EXPECT_THAT(completed({}), IsEmpty()) << "with one folder, the rename decides";
}

}  // namespace
}  // namespace rota::checkpoint
