// Tests lists of hosts from a flag, from a file, from Slurm and from other batch systems, and the
// flags of old TensorFlow tutorials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/sources/host_list.h"
#include "cluster/sources/slurm_lists.h"
#include "cluster/sources/task_flags.h"
#include "specification/given.h"

namespace rota::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string hostfile_text(const std::string& text) {
  Given given = given_of({});
  given.hostfile = HostFile{.path = "hosts", .text = text};
  try {
    return hosts_text(read(given).chosen);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Hostfile, HasAHostALine) {
  EXPECT_EQ(hostfile_text("a slots=2\nb\n"), "a*2 b");
  EXPECT_EQ(hostfile_text("# Ours.\n\n  a:2\t# Two.\r\nb:1\n"), "a*2 b*1");
  EXPECT_EQ(hostfile_text("[fd00::1]:2\n[fd00::2] slots=3"), "fd00::1*2 fd00::2*3");
  EXPECT_EQ(hostfile_text("fd00::1 slots=2\nfd00::2\n"), "fd00::1*2 fd00::2");
  EXPECT_EQ(hostfile_text("0.0.0.0\n"), "0.0.0.0");  // This host alone.
  EXPECT_EQ(hostfile_text("fe80::1%eth0\nfe80::2%eth0\n"), "fe80::1%eth0 fe80::2%eth0");
  EXPECT_EQ(hostfile_text("a slots=2 max_slots=4\nb max-slots=1\n"), "a*2 b");
}

TEST(Hostfile, AddsUpWhatIsSaidOfOneHost) {
  EXPECT_EQ(hostfile_text("a\na\nb\na\n"), "a*3 b");  // As a batch system writes it.
  EXPECT_EQ(hostfile_text("a slots=2\na slots=3\n"), "a*5");
}

TEST(Hostfile, KeepsTheMostThatAHostMayHave) {
  const auto hosts = parse_hostfile("hosts", "a slots=2 max_slots=4\nb\na max-slots=3\n");
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].slots, std::size_t{3});
  EXPECT_EQ(hosts[0].most_slots, std::size_t{3});
  EXPECT_EQ(hosts[1].most_slots, std::nullopt);
}

TEST(Hostfile, IsRefusedByFileAndLine) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, const char*>>{
           {"", "hosts names no host"},
           {"# Nobody.\n", "hosts names no host"},
           {"a\nb slots=0\n", "hosts:2: slots is '0'"},
           {"a slots=\n", "hosts:1: slots is ''"},
           {"a slots=-1\n", "hosts:1: slots is '-1'"},
           {"a slots=99999999999999999999\n", "hosts:1: slots is '99999"},
           {"a slot=2\n", "hosts:1 has 'slot=2'"},
           {"a slots = 2\n", "hosts:1 has 'slots'"},
           {"a slots=2 slots=3\n", "hosts:1 sets the slots of a twice"},
           {"a:2 slots=3\n", "hosts:1 sets the slots of a twice"},
           {"a:two\n", "hosts:1: the slots of a is 'two'"},
           {"a slots=3 max_slots=2\n", "hosts:1 has 3 slots of a, but max_slots=2"},
           {"a slots=1 max_slots=2 max-slots=3\n", "hosts:1 sets max_slots of a twice"},
           {"a slots=2 max_slots=3\na slots=2\n", "'a' has 4 slots in total, but max_slots=3"},
           {"a max_slots=many\n", "hosts:1: max_slots is 'many'"},
           {"a:2:3\n", "hosts:1 has 'a:2:3', which is not a host"},
           {"fd00::1::2\n", "hosts:1 has 'fd00::1::2', which is not a host"},
           {"me@a\n", "hosts:1 has 'me@a', but rotarun does not log in itself: leave out 'me@'"},
           {"slots=2\n", "hosts:1 has 'slots=2', which is not a host"},
           {"a,b\n", "hosts:1 has 'a,b', which is not a host"},
           {"localhost\nb\n", "'localhost'; every host means itself by that name"},
           {"b\n0.0.0.0 slots=2\n", "'0.0.0.0'; every host means itself by that name"},
           {"b\n::ffff:127.0.0.1\n", "'::ffff:127.0.0.1'; every host means itself by that name"},
       }) {
    EXPECT_THAT(hostfile_text(text), HasSubstr(words)) << text;
  }
}

// Returns the hosts of a file of a batch system, or the refusal.
std::string batch_text(std::vector<Host> (*parse)(const std::string&, std::string_view),
                       const std::string& text) {
  try {
    return hosts_text({.hosts = parse("hosts", text)});
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(NodeFile, HasASlotALine) {
  EXPECT_EQ(batch_text(parse_node_file, "a\na\nb\n"), "a*2 b*1");
  EXPECT_EQ(batch_text(parse_node_file, "b\r\na\r\n\r\nb"), "b*2 a*1");
  EXPECT_EQ(batch_text(parse_node_file, "fd00::1\n"), "fd00::1*1");
}

TEST(QueueFile, HasAQueueALine) {
  EXPECT_EQ(batch_text(parse_queue_file, "a 4 all.q@a UNDEFINED\nb 2 all.q@b <NULL>\n"), "a*4 b*2");
  EXPECT_EQ(batch_text(parse_queue_file, "a 4 x@a 0,0:0,1\r\nb 2\r\na 1 y@a UNDEFINED\r\n"),
            "a*5 b*2");
}

TEST(BatchFiles, AreRefusedByFileAndLine) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, const char*>>{
           {"", "hosts names no host: a line looks like \"node1\""},
           {"\r\n \n", "hosts names no host"},
           {"a\nb 2\n", "hosts:2 has '2', but nothing can follow a host"},
           {"a 2 all.q@a UNDEFINED\n", "hosts:1 has '2', but nothing can follow a host"},
           {"a:2\n", "hosts:1 has 'a:2', which is not a host"},
           {"a,b\n", "hosts:1 has 'a,b', which is not a host"},
       }) {
    EXPECT_THAT(batch_text(parse_node_file, text), HasSubstr(words)) << text;
  }
  for (const auto& [text, words] : std::vector<std::pair<std::string, const char*>>{
           {"", "hosts names no host: a line looks like \"node1 4 all.q@node1 UNDEFINED\""},
           {"a 1 q\nb\n", "hosts:2 has 'b', but not its number of slots"},
           {"a four q UNDEFINED\n", "hosts:1: the slots of a is 'four'"},
           {"a 0 q UNDEFINED\n", "hosts:1: the slots of a is '0'"},
           {"a:2 4 q UNDEFINED\n", "hosts:1 has 'a:2', which is not a host"},
           {"a 4096 q\na 1 r\n", "'a' has 4097 slots in total"},
       }) {
    EXPECT_THAT(batch_text(parse_queue_file, text), HasSubstr(words)) << text;
  }
}

TEST(HostList, FindsThisHostByItsName) {
  Given given = given_of({}, "b.example");
  given.host_list = "a:2,b:2";
  EXPECT_EQ(read(given).chosen.own_host, std::size_t{1});
  given.host_list = "b.example,b.example.org";  // The first name matches exactly.
  EXPECT_EQ(read(given).chosen.own_host, std::size_t{0});
  given.host_list = "bb,b.exam";
  EXPECT_EQ(read(given).chosen.own_host, std::nullopt);
  for (const char* itself : {"localhost:3", "0.0.0.0:3", "[::]", "[::ffff:127.0.0.1]:3"}) {
    given.host_list = itself;
    EXPECT_EQ(read(given).chosen.own_host, std::size_t{0}) << itself;
  }
  given.host_list = "a,me@b";
  EXPECT_THAT(refusal_of(given), HasSubstr("--agent \"ssh -l USER {host}\""));
}

TEST(NodeList, IsExpandedWithItsZeros) {
  EXPECT_THAT(expand_node_list("X", "n[1-3,07-09],m5"),
              ElementsAre("n1", "n2", "n3", "n07", "n08", "n09", "m5"));
  EXPECT_THAT(expand_node_list("X", "n[098-101]"), ElementsAre("n098", "n099", "n100", "n101"));
  EXPECT_THAT(expand_node_list("X", "r[1-2]n[1,3].x"),
              ElementsAre("r1n1.x", "r1n3.x", "r2n1.x", "r2n3.x"));
  EXPECT_THAT(expand_node_list("X", "plain"), ElementsAre("plain"));
  EXPECT_THAT(expand_node_list("X", "n[9-11]"), ElementsAre("n9", "n10", "n11"));
}

TEST(Counts, AreRepeated) {
  EXPECT_THAT(expand_counts("X", "2(x3),1"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(expand_counts("X", "4"), ElementsAre(4));
}

TEST(TaskFlags, LeaveOtherArgumentsAlone) {
  const TaskFlags flags =
      parse_task_flags({"--epochs", "5", "--worker_hosts=a:1,b:1", "-task_index", "1",
                        "--job_name=worker", "data", "--", "--job_name=ps"});
  EXPECT_THAT(flags.rest, ElementsAre("--epochs", "5", "data", "--", "--job_name=ps"));
  EXPECT_EQ(flags.values.at("task_index"), "1");
  EXPECT_EQ(flags.values.at("job_name"), "worker");
}

TEST(TaskFlags, SayWhatTfConfigSays) {
  Given given = given_of({});
  given.arguments = {"--ps_hosts=p:1", "--worker_hosts", "a:1,b:1", "--job_name=worker",
                     "--task_index=1"};
  const Specification chosen = read(given).chosen;
  EXPECT_EQ(to_text(chosen), "host 1 (b:1) of 2, rendezvous at a:1");
  EXPECT_EQ(hosts_text(chosen), "a:1 b:1 [p:1]");
  EXPECT_THAT(chosen.remarks, ElementsAre(HasSubstr("needs no parameter server")));
}

TEST(TaskFlags, AreAnotherProgramsWithoutWorkers) {
  Given given = given_of({});
  given.arguments = {"--job_name=nightly", "--task_index=x"};
  EXPECT_EQ(read(given).chosen.source, kThisHost);
}

}  // namespace
}  // namespace rota::cluster
