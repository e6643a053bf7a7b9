// rotarun --show-ranks prints the table of the declared ranks, as text or as JSON, for any number
// of hosts. It starts nothing.
#include <fstream>
#include <nlohmann/json.hpp>

#include "launcher/launched.h"
#include "os/host.h"

namespace rota::launcher {
namespace {

using nlohmann::json;

class ShowRanks : public Launched {
 protected:
  static Result show(std::vector<std::string> environment, std::vector<std::string> arguments) {
    arguments.emplace_back("--show-ranks");
    testing::Command command = rotarun(std::move(arguments));
    command.environment = std::move(environment);
    return run(std::move(command));
  }

  static json show_json(const std::vector<std::string>& environment,
                        std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Result result = show(environment, std::move(arguments));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
};

json row_of(std::size_t rank, std::size_t local_rank, const std::string& host,
            const json& address = nullptr, const json& devices = nullptr) {
  return {{"rank", rank},
          {"local_rank", local_rank},
          {"host", host},
          {"address", address},
          {"role", rank == 0 ? "chief" : "worker"},
          {"cores", nullptr},
          {"devices", devices}};
}

// Returns the row of a rank on this host. The rank sees no devices.
json own_row_of(std::size_t rank, std::size_t local_rank, const std::string& host,
                const json& address = nullptr) {
  return row_of(rank, local_rank, host, address, json::array());
}

TEST_F(ShowRanks, OfThisHostAlone) {
  const std::string host = os::host_name();
  const json expected = {{"source", "rotarun -np 2"},
                         {"epoch", 0},
                         {"world", 2},
                         {"ranks", {own_row_of(0, 0, host), own_row_of(1, 1, host)}}};
  EXPECT_EQ(show_json({"CUDA_VISIBLE_DEVICES="}, {"-np", "2"}), expected);
  EXPECT_EQ(show_json({"CUDA_VISIBLE_DEVICES=", "ROTA_HOSTS=a,b"}, {"-np", "2", "--this-host"}),
            expected);
}

TEST_F(ShowRanks, HasTheCoresOfEachRank) {
  const json table = show_json({}, {"-np", "1", "--bind-to", "core"});
  const std::string cores = table["ranks"][0]["cores"];
  EXPECT_NE(cores, "");
  EXPECT_THAT(show({}, {"-np", "1", "--bind-to", "core"}).out, HasSubstr("  " + cores + "\n"));
}

// The devices that each rank sees, for given variables and arguments of rotarun.
struct Given {
  std::vector<std::string> environment;
  std::vector<std::string> arguments;
  std::vector<json> devices;
};

TEST_F(ShowRanks, HasTheDevicesOfEachRankOfThisHost) {
  const std::string two = "CUDA_VISIBLE_DEVICES=3,GPU-5";
  const json both = {"3", "GPU-5"};
  const std::string tf_config = R"(TF_CONFIG={"cluster":{"chief":["a:1"],"worker":["b:1"]},)"
                                R"("task":{"type":"chief","index":0}})";
  const std::vector<Given> rows = {
      {{two}, {"-np", "1"}, {{"3"}}},
      {{two}, {"-np", "2"}, {{"3"}, {"GPU-5"}}},
      {{two}, {"-np", "3"}, {both, both, both}},
      {{two}, {"-np", "2", "-x", "CUDA_VISIBLE_DEVICES"}, {both, both}},
      {{two}, {"-np", "2", "-x", "CUDA_VISIBLE_DEVICES=1"}, {{"1"}, {"1"}}},
      {{"CUDA_VISIBLE_DEVICES="}, {"-np", "2"}, {json::array(), json::array()}},
      {{two, tf_config, "ROTA_WORLD=4"}, {}, {{"3"}, {"GPU-5"}, nullptr, nullptr}},
      {{two, "ROTA_HOSTS=a:1,b:1"}, {}, {nullptr, nullptr}},  // This host is neither of them.
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json ranks = show_json(rows[i].environment, rows[i].arguments)["ranks"];
    ASSERT_EQ(ranks.size(), rows[i].devices.size()) << "row " << i;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      EXPECT_EQ(ranks[rank]["devices"], rows[i].devices[rank]) << "row " << i << " rank " << rank;
      EXPECT_EQ(ranks[rank]["role"], rank == 0 ? "chief" : "worker");
    }
  }
}

struct Declaration {
  std::vector<std::string> environment;
  std::vector<std::string> arguments;
  std::string source;
  std::uint64_t epoch;
  std::vector<json> ranks;
};

TEST_F(ShowRanks, OfSeveralHostsWhateverDeclaresThem) {
  const std::string tf_config =
      R"(TF_CONFIG={"cluster":{"chief":["a:1"],"worker":["10.0.0.7:2","[fd00::1]:3"]},)"
      R"("task":{"type":"worker","index":0}})";
  const std::vector<Declaration> rows = {
      {{tf_config, "ROTA_WORLD=3", "CUDA_VISIBLE_DEVICES="},
       {},
       "TF_CONFIG",
       0,
       {row_of(0, 0, "a"), own_row_of(1, 0, "10.0.0.7", "10.0.0.7:2"),
        row_of(2, 0, "fd00::1", "[fd00::1]:3")}},
      {{"ROTA_HOSTS=a:2,b:1"},
       {},
       "ROTA_HOSTS",
       0,
       {row_of(0, 0, "a"), row_of(1, 1, "a"), row_of(2, 0, "b")}},
      {{"ROTA_HOSTS=a:2,b:2"},
       {"-np", "3"},
       "ROTA_HOSTS",
       0,
       {row_of(0, 0, "a"), row_of(1, 1, "a"), row_of(2, 0, "b")}},
      {{"ROTA_HOSTS=a:2,b:2"},
       {"-np", "3", "--map-by", "node", "--rank-by", "node"},
       "ROTA_HOSTS",
       0,
       {row_of(0, 0, "a"), row_of(1, 0, "b"), row_of(2, 1, "a")}},
      {{}, {"-H", "a:1,b:1"}, "--host", 0, {row_of(0, 0, "a"), row_of(1, 0, "b")}},
      {{"SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=1(x2)", "SLURM_RESTART_COUNT=3"},
       {},
       "Slurm allocation",
       3,
       {row_of(0, 0, "n1"), row_of(1, 0, "n2")}},
  };
  for (const Declaration& row : rows) {
    const json expected = {{"source", row.source},
                           {"epoch", row.epoch},
                           {"world", row.ranks.size()},
                           {"ranks", row.ranks}};
    EXPECT_EQ(show_json(row.environment, row.arguments), expected) << row.source;
    const Result text = show(row.environment, row.arguments);
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_THAT(text.out, HasSubstr(" · " + row.source + "\n"));
  }
}

TEST_F(ShowRanks, SaysWhatItTakesForGranted) {
  const std::string note = "this host does not know the slots of the other hosts";
  const Result result = show({"ROTA_HOSTS=a,b"}, {"--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(json::parse(result.out)["world"].get<std::size_t>() % 2, 0U);
  EXPECT_THAT(json::parse(result.out)["note"], HasSubstr(note));
  EXPECT_THAT(result.err, HasSubstr("rotarun: note: " + note));
  EXPECT_THAT(show({"ROTA_HOSTS=a,b"}, {"-np", "2"}).err, HasSubstr(note));
  EXPECT_EQ(show({"ROTA_HOSTS=a:1,b:1"}, {"-np", "2"}).err, "");
}

// Hosts with the same declaration show the same table, which is also the table of the job.
TEST_F(ShowRanks, IsTheSameOnEachHost) {
  const auto shown_on = [](const std::string& host) {
    return show({"ROTA_HOSTS=a,b", "ROTA_SLOTS=1", "ROTA_HOST=" + host}, {});
  };
  const Result on_a = shown_on("a");
  EXPECT_EQ(on_a.exit_code, 0);
  EXPECT_THAT(on_a.out, HasSubstr("world 2 on 2 hosts"));
  EXPECT_THAT(on_a.err, HasSubstr("as many as this one, 1\n"));
  EXPECT_EQ(on_a.out, shown_on("b").out);
}

TEST_F(ShowRanks, EndsWithoutATableWhereThereIsNone) {
  const Result unnamed = show({"PMI_RANK=1", "PMI_SIZE=4"}, {"--json"});
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_EQ(unnamed.out, "");
  EXPECT_THAT(unnamed.err, HasSubstr("PMI does not name every host"));
  EXPECT_EQ(show({"TF_CONFIG="}, {"--json"}).exit_code, 78);
  const Result contradiction = show({"ROTA_HOSTS=a:1,b:1", "ROTA_WORLD=2"}, {"-np", "3"});
  EXPECT_EQ(contradiction.exit_code, 78);
  EXPECT_THAT(contradiction.err, HasSubstr("--np is 3, but ROTA_WORLD is 2"));
  EXPECT_EQ(show({"ROTA_HOSTS=a:1,b:1"}, {"-np", "3"}).exit_code, 2);
}

TEST_F(ShowRanks, StartsNothing) {
  for (const char* hosts : {"ROTA_SLOTS=1", "ROTA_HOSTS=a,b"}) {
    const Result result = show({hosts}, script({"--show-ranks", "--json"}, "echo started"));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, Not(HasSubstr("started")));
  }
}

TEST_F(ShowRanks, IsWhatJsonIsFor) {
  for (const std::vector<std::string>& given : std::vector<std::vector<std::string>>{
           {"--json", "true"}, {"--json", "--explain"}, {"--json"}}) {
    const Result result = run_rotarun(given);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("give it with --show-ranks"));
  }
}

}  // namespace
}  // namespace rota::launcher
