// Tests the command line: which words belong to rotarun, which belong to the program, and the
// messages about invalid ones.
#include "launcher/command/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace rota::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal_of(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {}) {
  try {
    parse_options(arguments, environment);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// rotarun compares the address with those of this host, as the system writes them.
TEST(Options, HaveTheAddressInItsUsualForm) {
  const auto address_of = [](const std::string& text) {
    return parse_options({"--address", text, "prog"}).address;
  };
  EXPECT_EQ(address_of("FD00:0:0::0001"), "fd00::1");
  EXPECT_EQ(address_of("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(address_of("localhost"), "localhost");
  EXPECT_EQ(address_of("@name"), "@name");
}

TEST(Options, HaveDefaults) {
  const Options options = parse_options({"prog"});
  EXPECT_FALSE(options.rank_count);
  EXPECT_FALSE(options.bind_to);
  EXPECT_FALSE(options.timeout);
  EXPECT_EQ(options.deadline, seconds(60));
  EXPECT_FALSE(options.grace);
  EXPECT_FALSE(options.stop_signal);
  EXPECT_FALSE(options.transport);
  EXPECT_THAT(options.groups.front().program, ElementsAre("prog"));
}

TEST(Options, AreReadInEverySpellingOfTheRankCount) {
  for (const std::vector<std::string>& given : std::vector<std::vector<std::string>>{
           {"-np", "4"}, {"-n", "4"}, {"--np", "4"}, {"--np=4"}, {"-np=4"}, {"-n4"}, {"-n=4"}}) {
    std::vector<std::string> arguments = given;
    arguments.emplace_back("prog");
    EXPECT_EQ(parse_options(arguments).rank_count, 4U) << given[0];
  }
}

TEST(Options, EndAtTheProgram) {
  const Options options =
      parse_options({"-np", "2", "prog", "--verbose", "-np", "3", "--", "--unknown"});
  EXPECT_EQ(options.rank_count, 2U);
  EXPECT_FALSE(options.verbose);
  EXPECT_THAT(options.groups.front().program,
              ElementsAre("prog", "--verbose", "-np", "3", "--", "--unknown"));
}

TEST(Options, EndAtTwoHyphens) {
  const Options options = parse_options({"--verbose", "--", "-odd-program", "x"});
  EXPECT_TRUE(options.verbose);
  EXPECT_THAT(options.groups.front().program, ElementsAre("-odd-program", "x"));
}

TEST(Options, AreAllRead) {
  const Options options =
      parse_options({"--bind-to", "core", "--map-by=numa", "--tag-output", "--output-filename",
                     "logs", "--wdir", "/tmp", "--timeout", "90", "--deadline", "2.5", "--grace",
                     "0", "--transport", "tcp", "-v", "prog"});
  EXPECT_EQ(options.bind_to, BindTo::kCore);
  EXPECT_EQ(options.map_by, MapBy::kNuma);
  EXPECT_TRUE(options.tag_output);
  EXPECT_EQ(options.output_directory, "logs");
  EXPECT_EQ(options.groups.front().working_directory, "/tmp");
  EXPECT_EQ(options.timeout, seconds(90));
  EXPECT_EQ(options.deadline, milliseconds(2500));
  EXPECT_EQ(options.grace, milliseconds(0));
  EXPECT_EQ(options.transport, base::find_transport("tcp"));
  EXPECT_TRUE(options.verbose);
}

TEST(Options, TakeTimesWithUnits) {
  EXPECT_EQ(parse_options({"--deadline", "20s", "p"}).deadline, seconds(20));
  EXPECT_EQ(parse_options({"--deadline", "500ms", "p"}).deadline, milliseconds(500));
  EXPECT_EQ(parse_options({"--deadline", "2m", "p"}).deadline, seconds(120));
  EXPECT_GT(parse_options({"--deadline", "1e-30", "p"}).deadline, base::Duration(0));
}

TEST(Options, TakeVariablesWithCommasAndEqualsSigns) {
  const Options options =
      parse_options({"-x", "LIST=a,b,c", "-x", "HOME", "-xFLAGS=-O2 -k=1", "-x", "EMPTY=", "p"});
  ASSERT_EQ(options.groups.front().variables.size(), 4U);
  EXPECT_EQ(options.groups.front().variables[0].name, "LIST");
  EXPECT_EQ(options.groups.front().variables[0].value, "a,b,c");
  EXPECT_EQ(options.groups.front().variables[1].name, "HOME");
  EXPECT_FALSE(options.groups.front().variables[1].value);
  EXPECT_EQ(options.groups.front().variables[2].value, "-O2 -k=1");
  EXPECT_EQ(options.groups.front().variables[3].value, "");
}

TEST(Options, NameHosts) {
  EXPECT_EQ(parse_options({"-H", "a:2,b", "p"}).host_list, "a:2,b");
  EXPECT_EQ(parse_options({"-host", "a", "p"}).host_list, "a");
  EXPECT_EQ(parse_options({"--hostfile=x", "p"}).hostfile, "x");
  EXPECT_TRUE(parse_options({"--this-host", "p"}).this_host);
  EXPECT_TRUE(parse_options({"--explain"}).explain);
  EXPECT_THAT(refusal_of({"-H", "a", "--hostfile", "x", "p"}), HasSubstr("give only one of them"));
  EXPECT_THAT(refusal_of({"-H", "a", "--this-host", "p"}),
              HasSubstr("--this-host runs the job on this host alone"));
}

TEST(Options, DealRanksToHosts) {
  EXPECT_EQ(parse_options({"--map-by", "node", "p"}).map_by, MapBy::kNode);
  const Options options = parse_options({"--map-by", "ppr:3:node", "p"});
  EXPECT_EQ(options.map_by, MapBy::kFixedPerNode);
  EXPECT_EQ(options.ranks_per_node, 3U);
  EXPECT_EQ(parse_options({"p"}).rank_by, RankBy::kSlot);
  EXPECT_EQ(parse_options({"--rank-by", "node", "p"}).rank_by, RankBy::kNode);
  EXPECT_TRUE(parse_options({"--oversubscribe", "p"}).oversubscribe);
  EXPECT_TRUE(parse_options({"--share-devices", "p"}).share_devices);
  EXPECT_FALSE(parse_options({"p"}).share_devices);
  EXPECT_TRUE(parse_options({"-report-bindings", "p"}).report_bindings);
  EXPECT_EQ(parse_options({"--cpus-per-rank", "4", "p"}).cpus_per_rank, 4U);
  for (const std::string text : {"ppr", "ppr:", "ppr:2", "ppr:node", "ppr::node", "ppr:0:node",
                                 "ppr:x:node", "ppr:N:node", "ppr:2:socket", "ppr:2:node:x"}) {
    EXPECT_THAT(
        refusal_of({"--map-by", text, "p"}),
        HasSubstr("--map-by " + text +
                  (text == "ppr" ? ": the value must be one of slot, node, ppr:N:node, core, numa"
                                 : ": the value must be ppr:N:node, with N from 1 to 4096")));
  }
  EXPECT_EQ(refusal_of({"--rank-by", "core", "p"}),
            "--rank-by core: the value must be one of slot, node");
  EXPECT_EQ(refusal_of({"--cpus-per-rank", "0", "p"}),
            "--cpus-per-rank 0: the value must be a whole number from 1 to 4096");
}

TEST(Options, AskForEncryption) {
  EXPECT_FALSE(parse_options({"p"}).encrypt);
  EXPECT_TRUE(parse_options({"--encrypt", "p"}).encrypt);
  EXPECT_TRUE(parse_options({"p"}, {"ROTA_ENCRYPT=1"}).encrypt);
  EXPECT_FALSE(parse_options({"p"}, {"ROTA_ENCRYPT=0"}).encrypt);
  EXPECT_FALSE(parse_options({"p"}, {"ROTA_ENCRYPT="}).encrypt);
  EXPECT_TRUE(parse_options({"--encrypt", "p"}, {"ROTA_ENCRYPT=0"}).encrypt);
  try {
    parse_options({"p"}, {"ROTA_ENCRYPT=yes"});
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "ROTA_ENCRYPT=yes: the value must be 1 or 0");
  }
}

TEST(Options, NameATunedFileByItsWholePath) {
  EXPECT_EQ(parse_options({"p"}).tuned_file, "");
  EXPECT_EQ(parse_options({"--tuned", "/a/../b", "p"}).tuned_file, "/b");
  EXPECT_EQ(parse_options({"p"}, {"ROTA_TUNED=/c"}).tuned_file, "/c");
  EXPECT_EQ(parse_options({"p"}, {"ROTA_TUNED="}).tuned_file, "");
  EXPECT_EQ(parse_options({"--tuned", "/b", "p"}, {"ROTA_TUNED=/c"}).tuned_file, "/b");
  EXPECT_EQ(parse_options({"--tuned", "x", "p"}).tuned_file,
            (std::filesystem::current_path() / "x").string());
  EXPECT_EQ(refusal_of({"--tuned=", "p"}), "--tuned needs a file");
}

TEST(Options, NameADescriptorForTheKey) {
  EXPECT_FALSE(parse_options({"p"}).key_fd);
  EXPECT_EQ(parse_options({"--key-fd", "3", "p"}).key_fd, 3);
  for (const std::string text : {"0", "1", "2", "-3", "x", "", "99999999999"}) {
    EXPECT_EQ(refusal_of({"--key-fd=" + text, "p"}),
              "--key-fd " + text + ": the value must be the number of a descriptor, 3 or more");
  }
  EXPECT_EQ(refusal_of({"--key-fd", "3", "--key-file", "key", "p"}),
            "--key-file and --key-fd: give only one of them");
}

TEST(Options, NamePorts) {
  const auto ports_of = [](const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment) {
    const PortRange ports = parse_options(arguments, environment).ports;
    return std::to_string(ports.first) + "-" + std::to_string(ports.last);
  };
  EXPECT_EQ(ports_of({"p"}, {}), "7700-7955");
  EXPECT_EQ(ports_of({"--ports", "1-65535", "p"}, {}), "1-65535");
  EXPECT_EQ(ports_of({"p"}, {"ROTA_PORTS=81-81"}), "81-81");
  EXPECT_EQ(ports_of({"--ports", "9-10", "p"}, {"ROTA_PORTS=nonsense"}), "9-10");
  for (const std::string text :
       {"", "-", "7700", "7700-", "-7700", "0-5", "5-4", "1-65536", "a-b", "1-2-3", "1 -2"}) {
    const std::string words =
        ": the value must be FIRST-LAST, two ports from 1 to 65535 in ascending order";
    EXPECT_EQ(refusal_of({"--ports", text, "p"}), "--ports " + text + words);
    try {
      parse_options({"p"}, {"ROTA_PORTS=" + text});
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "ROTA_PORTS=" + text + words);
    }
  }
  EXPECT_TRUE(parse_options({"--help"}, {"ROTA_PORTS=nonsense"}).help);
}

TEST(Options, NeedNoProgramWhereNothingStarts) {
  EXPECT_TRUE(parse_options({"--help"}).help);
  EXPECT_TRUE(parse_options({"-V"}).version);
  EXPECT_TRUE(parse_options({"--show-ranks", "-np", "2"}).show_ranks);
}

TEST(Options, AskOneQuestionAtATime) {
  EXPECT_TRUE(parse_options({"--preflight", "--json", "p"}).preflight);
  EXPECT_EQ(refusal_of({"--preflight", "--show-ranks", "p"}),
            "--preflight and --show-ranks: give only one of them");
  EXPECT_EQ(refusal_of({"--preflight", "--explain", "p"}),
            "--preflight and --explain: give only one of them");
  EXPECT_THAT(refusal_of({"--preflight"}), HasSubstr("no program to start"));
  EXPECT_THAT(refusal_of({"--json", "p"}), HasSubstr("give it with --show-ranks or --preflight"));
}

TEST(Options, RefuseAMissingProgram) {
  EXPECT_THAT(refusal_of({}), HasSubstr("no program to start"));
  EXPECT_THAT(refusal_of({"-np", "2"}), HasSubstr("no program to start"));
  EXPECT_THAT(refusal_of({"-np", "2", "--"}), HasSubstr("no program to start"));
  EXPECT_THAT(refusal_of({"-np", "2", ""}), HasSubstr("no program to start"));
}

TEST(Options, RefuseRankCountsThatAreNone) {
  for (const std::string text : {"0", "-1", "+2", "1e99", "1e2", "abc", "", " 2", "2 ", "0x4",
                                 "4.5", "4097", "99999999999999999999999"}) {
    EXPECT_THAT(refusal_of({"-np", text, "p"}),
                HasSubstr("--np " + text + ": the value must be a whole number from 1 to 4096"))
        << text;
  }
}

TEST(Options, RefuseTimesThatAreNone) {
  for (const std::string text :
       {"0", "-1", "1e99", "nan", "inf", "abc", "", "5x", "5 s", "1h", "0x10", "s"}) {
    EXPECT_THAT(refusal_of({"--deadline", text, "p"}),
                HasSubstr("--deadline " + text + ": the value must be a number"))
        << text;
    EXPECT_THAT(refusal_of({"--timeout", text, "p"}),
                AllOf(HasSubstr("a number of seconds above 0"), HasSubstr("500ms, 10s or 90m")));
  }
  EXPECT_THAT(refusal_of({"--grace", "-1", "p"}), HasSubstr("a number of seconds from 0"));
}

TEST(Options, TakeOneOfTwoStopSignals) {
  EXPECT_EQ(parse_options({"--stop-signal", "USR1", "p"}).stop_signal, SIGUSR1);
  EXPECT_EQ(parse_options({"--stop-signal=USR2", "p"}).stop_signal, SIGUSR2);
  EXPECT_EQ(parse_options({"--stop-signal", "SIGUSR1", "p"}).stop_signal, SIGUSR1);
  EXPECT_EQ(parse_options({"--stop-signal", "SIGUSR2", "p"}).stop_signal, SIGUSR2);
  for (const std::string text : {"TERM", "SIGTERM", "SIG", "SIGSIGUSR1", "usr1", "10"}) {
    EXPECT_THAT(refusal_of({"--stop-signal", text, "p"}),
                HasSubstr("--stop-signal " + text + ": the value must be one of USR1, USR2"));
  }
}

// mpirun and mpiexec have other names for these options.
TEST(Options, KnowTheNamesOfMpirun) {
  for (const char* name : {"-N", "-npernode", "--npernode", "-ppn"}) {
    const Options options = parse_options({name, "3", "p"});
    EXPECT_EQ(options.map_by, MapBy::kFixedPerNode) << name;
    EXPECT_EQ(options.ranks_per_node, 3U) << name;
  }
  EXPECT_EQ(parse_options({"-machinefile", "x", "p"}).hostfile, "x");
  EXPECT_EQ(parse_options({"--machinefile=x", "p"}).hostfile, "x");
  EXPECT_EQ(parse_options({"-f", "x", "p"}).hostfile, "x");
  EXPECT_EQ(parse_options({"-hosts", "a,b", "p"}).host_list, "a,b");
  EXPECT_THAT(refusal_of({"-N", "none", "p"}), HasSubstr("--map-by ppr:none:node"));
  EXPECT_EQ(parse_options({"-N", "2", "--map-by", "ppr:2:node", "p"}).ranks_per_node, 2U);
  for (const auto& given : std::vector<std::vector<std::string>>{
           {"-N", "2", "--map-by", "core", "p"}, {"--map-by", "core", "-N", "2", "p"}}) {
    EXPECT_THAT(refusal_of(given), AllOf(HasSubstr("--map-by core"), HasSubstr("ppr:2:node"),
                                         HasSubstr("give only one of them")));
  }
}

TEST(Options, KnowTheNamesOfTorchrunAndHorovodrun) {
  for (const char* name : {"--nproc-per-node=3", "--nproc_per_node=3"}) {
    const Options options = parse_options({name, "p"});
    EXPECT_EQ(options.map_by, MapBy::kFixedPerNode) << name;
    EXPECT_EQ(options.ranks_per_node, 3U) << name;
  }
  EXPECT_THAT(refusal_of({"--nproc-per-node=gpu", "p"}),
              AllOf(HasSubstr("--map-by ppr:gpu:node"), HasSubstr("--nproc-per-node take N")));
  EXPECT_EQ(parse_options({"--start-timeout", "90", "p"}).join_timeout, seconds(90));
  for (const std::string name : {"--nnodes", "--node-rank", "--node_rank", "--master-addr",
                                 "--rdzv-backend", "--rdzv_endpoint", "--rdzv-id"}) {
    EXPECT_EQ(refusal_of({name + "=1", "p"}),
              name +
                  ": for one host, leave it out; for several, name them with --host a:2,b:2, and "
                  "one rotarun starts the job on all of them");
  }
  EXPECT_THAT(refusal_of({"--master_port", "29500", "p"}), HasSubstr("use --ports FIRST-LAST"));
  EXPECT_THAT(refusal_of({"--standalone", "p"}), HasSubstr("leave it out"));
  EXPECT_THAT(refusal_of({"--no-python", "p"}), HasSubstr("starts any program"));
  EXPECT_THAT(refusal_of({"--max-restarts=3", "p"}), HasSubstr("newest checkpoint"));
  for (const std::string name : {"-iface", "--network-interface", "--network-interfaces"}) {
    EXPECT_THAT(refusal_of({name, "eth0", "p"}), HasSubstr(name + ": for each other host"));
  }
}

TEST(Options, NameTheNearestFlag) {
  EXPECT_EQ(refusal_of({"--bindto", "core", "p"}),
            "unknown option --bindto; did you mean --bind-to?");
  EXPECT_EQ(refusal_of({"--deadlin=3", "p"}), "unknown option --deadlin; did you mean --deadline?");
  EXPECT_EQ(refusal_of({"-tag-ouput", "p"}),
            "unknown option -tag-ouput; did you mean --tag-output?");
  EXPECT_EQ(refusal_of({"-nq", "p"}), "unknown option -nq; did you mean --np?");
  EXPECT_THAT(refusal_of({"--mca", "btl", "self", "p"}),
              HasSubstr("--mca: it sets parameters of Open"));
  EXPECT_THAT(refusal_of({"-npersocket", "2", "p"}), HasSubstr("--map-by numa"));
  EXPECT_THAT(refusal_of({"--map-by", "socket", "p"}), HasSubstr("use --map-by numa"));
  EXPECT_THAT(refusal_of({"--bind-to", "hwthread", "p"}), HasSubstr("use --bind-to core"));
  EXPECT_EQ(refusal_of({"--qqqqqqqqqqqqqqqqqqqq", "p"}), "unknown option --qqqqqqqqqqqqqqqqqqqq");
  EXPECT_THAT(refusal_of({"-", "p"}), HasSubstr("accepted"));  // A program named "-".
}

TEST(Options, RefuseValuesThatAreMissingOrTooMany) {
  EXPECT_EQ(refusal_of({"--np"}), "--np needs a value: N");
  EXPECT_EQ(refusal_of({"--verbose=3", "p"}), "--verbose takes no value");
  EXPECT_EQ(refusal_of({"--wdir", "", "p"}), "--wdir needs a directory");
  EXPECT_EQ(refusal_of({"--bind-to", "socket", "p"}),
            "--bind-to socket: rotarun knows only cores and NUMA nodes; use --bind-to numa");
  EXPECT_EQ(refusal_of({"--bind-to", "board", "p"}),
            "--bind-to board: the value must be one of none, core, numa");
  EXPECT_EQ(refusal_of({"--transport", "udp", "p"}),
            "--transport udp: the value must be one of auto, shm, tcp, mpi");
  EXPECT_EQ(refusal_of({"-x", "=3", "p"}), "-x =3: the value must be NAME or NAME=VALUE");
}

TEST(Options, RefuseWhatContradictsMessagesOverMpi) {
  EXPECT_TRUE(goes_over_mpi(parse_options({"--transport", "mpi", "p"})));
  EXPECT_FALSE(goes_over_mpi(parse_options({"--transport", "tcp", "p"})));
  const std::string secret =
      "--encrypt (or ROTA_ENCRYPT) and --transport mpi: rota cannot encrypt what MPI sends; leave "
      "out one of them";
  EXPECT_EQ(refusal_of({"--transport", "mpi", "--encrypt", "p"}), secret);
  EXPECT_EQ(refusal_of({"--transport", "mpi", "p"}, {"ROTA_ENCRYPT=1"}), secret);
  const std::string none =
      "--mpi none and --transport mpi: the ranks would have no MPI to send with; leave out one of "
      "them";
  EXPECT_EQ(refusal_of({"--transport", "mpi", "--mpi", "none", "p"}), none);
  EXPECT_EQ(
      refusal_of({"--transport", "mpi", "-n", "1", "p", ":", "-n", "1", "--mpi", "none", "q"}),
      none);
  EXPECT_THAT(refusal_of({"--transport", "mpi", "-n", "1", "p", ":", "--role", "evaluator", "--mpi",
                          "none", "q"}),
              HasSubstr("accepted"));
}

TEST(Options, AreGroupedInTheHelpButForThoseThatNobodyTypes) {
  const std::string help = help_text();
  for (const char* group :
       {"Ranks", "Several hosts", "Programs", "Data", "Output", "Information"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n ") + group + " options:\n"));
  }
  EXPECT_THAT(help, ::testing::Not(HasSubstr("--follow")));
}

TEST(Options, AreAllInTheHelpWithThreeExamples) {
  const std::string help = help_text();
  for (const char* name : {"--np",
                           "--export",
                           "--bind-to",
                           "--map-by",
                           "--transport",
                           "--host",
                           "--hostfile",
                           "--this-host",
                           "--explain",
                           "--tag-output",
                           "--output-filename",
                           "--wdir",
                           "--timeout",
                           "--deadline",
                           "--rank-by",
                           "--cpus-per-rank",
                           "--oversubscribe",
                           "--share-devices",
                           "--report-bindings",
                           "--ports",
                           "--grace",
                           "--show-ranks",
                           "--preflight",
                           "--verbose",
                           "--version",
                           "--help"}) {
    EXPECT_THAT(help, HasSubstr(name));
  }
  std::size_t examples = 0;
  for (std::size_t at = 0; (at = help.find("\n  rotarun -np", at)) != std::string::npos; ++at) {
    ++examples;
  }
  EXPECT_EQ(examples, 3U);
}

}  // namespace
}  // namespace rota::launcher
