// Tests invalid clusters in TF_CONFIG, and in the flags of old TensorFlow tutorials. Each refusal
// says what is wrong, where it is, and which value is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "specification/given.h"

namespace rota::cluster {
namespace {

using ::testing::HasSubstr;

struct BadValue {
  std::string value;
  std::vector<const char*> words;
};

const std::string kTask = R"("task":{"type":"worker","index":0})";

std::string cluster_of(const std::string& jobs) {
  return R"({"cluster":{)" + jobs + "}," + kTask + "}";
}

std::string task_of(const std::string& task) {
  return R"({"cluster":{"worker":["a:1","b:1"]},"task":)" + task + "}";
}

const BadValue kShapes[] = {
    {"", {"TF_CONFIG is empty", "leave it unset"}},
    {"  \n", {"TF_CONFIG is empty"}},
    {"{", {"TF_CONFIG is '{'", "not JSON"}},
    {"{]", {"TF_CONFIG is '{]'", "byte 2"}},
    {"{'cluster':{}}", {"TF_CONFIG is '{'cluster':{}}'", "not JSON"}},
    {R"({"cluster":{},})", {"not JSON"}},
    {R"({"cluster":{}} x)", {"not JSON", "byte 16"}},
    {"nonsense", {"TF_CONFIG is 'nonsense'"}},
    {"\xff\xfe", {"TF_CONFIG is '?", "not JSON"}},
    {"{\"a\":\"\xff\"}", {"not JSON"}},
    {"null", {"TF_CONFIG is 'null'", "an object"}},
    {"[]", {"TF_CONFIG is '[]'", "an object"}},
    {"3", {"TF_CONFIG is '3'"}},
    {"\"worker\"", {"TF_CONFIG is '\"worker\"'"}},
    {std::string(40, '['), {"nested too deeply"}},
    {R"({"cluster":null})", {"cluster is 'null'"}},
    {R"({"cluster":[]})", {"cluster is '[]'", "an object"}},
    {R"({"cluster":"a:1"})", {"cluster is '\"a:1\"'"}},
    {R"({"cluster":{"worker":["a:1"]},"cluster":{}})", {"the key 'cluster' twice"}},
    {R"({"sparseCluster":{"worker":{"1":"b:1"}}})", {"sparseCluster", "enableDynamicWorker"}},
    {R"({"cluster":{"worker":["a:1"]}})", {"a cluster but no task", "\"type\""}},
    {std::string(R"({"cluster":)") + std::string(500, '9') + "}", {"too large"}},
};

const BadValue kClusters[] = {
    {cluster_of(R"("wroker":["a:1"])"), {"'wroker'", "did you mean worker?"}},
    {cluster_of(R"("gpu":["a:1"],"worker":["b:1"])"), {"'gpu'", "none of chief, master, worker"}},
    {cluster_of(R"("worker":"a:1")"), {"cluster.worker is '\"a:1\"'", "a list"}},
    {cluster_of(R"("worker":3)"), {"cluster.worker is '3'"}},
    {cluster_of(R"("worker":null)"), {"cluster.worker is 'null'"}},
    {cluster_of(R"("worker":[3])"), {"cluster.worker[0] is '3'", "a string"}},
    {cluster_of(R"("worker":["a:1",null])"), {"cluster.worker[1] is 'null'"}},
    {cluster_of(R"("worker":[["a:1"]])"), {"cluster.worker[0] is '[\"a:1\"]'"}},
    {cluster_of(R"("worker":["a"])"), {"cluster.worker[0] has 'a'", "needs a port"}},
    {cluster_of(R"("worker":[""])"), {"cluster.worker[0] has ''", "not a host"}},
    {cluster_of(R"("worker":["a:"])"), {"the port of 'a:'", "is ''"}},
    {cluster_of(R"("worker":["a:0"])"), {"the port of 'a:0'", "from 1 to 65535"}},
    {cluster_of(R"("worker":["a:-1"])"), {"is '-1'"}},
    {cluster_of(R"("worker":["a:65536"])"), {"is '65536'"}},
    {cluster_of(R"("worker":["a:99999999999999999999999"])"), {"from 1 to 65535"}},
    {cluster_of(R"("worker":["a:http"])"), {"is 'http'"}},
    {cluster_of(R"("worker":[":2222"])"), {"':2222', which is not a host"}},
    {cluster_of(R"("worker":["http://a:1"])"), {"'http://a:1', which is not a host"}},
    {cluster_of(R"("worker":["a b:1"])"), {"'a b:1', which is not a host"}},
    {cluster_of(R"("worker":["-a:1"])"), {"'-a:1', which is not a host"}},
    {cluster_of(R"("worker":["fd00::1:1"])"), {"'fd00::1:1'", "needs brackets"}},
    {cluster_of(R"("worker":["[fd00::1:1"])"), {"'[fd00::1:1'", "not a host"}},
    {cluster_of(R"("worker":["[fd00::1]1"])"), {"'[fd00::1]1'"}},
    {cluster_of(R"("worker":["a\nb:1"])"), {"'a?b:1'"}},
    {cluster_of(R"("worker":["a:1","a:1"])"), {"has 'a:1' twice"}},
    {cluster_of(R"("worker":["a:1"],"ps":["a:1"])"), {"has 'a:1' twice"}},
    {cluster_of(R"("worker":["a:1"],"chief":["b:1","c:1"])"),
     {"cluster.chief has 2 tasks", "can be only one chief"}},
    {cluster_of(R"("worker":["a:1"],"chief":["b:1"],"master":["c:1"])"),
     {"both a chief and a master"}},
    {cluster_of(R"("worker":["a:1"],"evaluator":["b:1","c:1"])"),
     {"there can be only one evaluator"}},
    {cluster_of(R"("ps":["p:1"])"), {"task.type is 'worker'", "no worker"}},
    {cluster_of(R"("worker":[])"), {"task.type is 'worker'", "no worker"}},
    {R"({"cluster":{"ps":["p:1"]},"task":{"type":"ps","index":0}})",
     {"neither a chief nor a worker"}},
    {cluster_of(R"("worker":{"a":"a:1"})"), {"an index of cluster.worker is 'a'"}},
    {cluster_of(R"("worker":{"-1":"a:1"})"), {"an index of cluster.worker is '-1'"}},
    {cluster_of(R"("worker":{"0":"a:1","00":"b:1"})"), {"the index 0 twice"}},
    {cluster_of(R"("worker":{"0":"a:1","2":"b:1"})"), {"an index 2 but no index 1"}},
    {cluster_of(R"("worker":{"1":"b:1"})"), {"an index 1 but no index 0"}},
    {cluster_of(R"("worker":{"0":3})"), {"cluster.worker.0 is '3'"}},
    {cluster_of(R"("worker":{"99999999999":"a:1"})"), {"is '99999999999'"}},
    {cluster_of(R"("worker":["localhost:1","b:1"])"), {"'localhost'", "means itself"}},
    {cluster_of(R"("worker":["b:1","127.0.1.1:1"])"), {"'127.0.1.1'", "means itself"}},
    {cluster_of(R"("worker":["0.0.0.0:1","b:1"])"), {"'0.0.0.0'", "means itself"}},
    {cluster_of(R"("worker":["b:1","[::]:1"])"), {"'::'", "means itself"}},
    // Nobody can connect to these addresses, not even on one machine.
    {cluster_of(R"("worker":["0.0.0.0:1","0.0.0.0:2"])"), {"'0.0.0.0'", "means itself"}},
};

const BadValue kTasks[] = {
    {task_of("null"), {"task is 'null'", "an object"}},
    {task_of("[]"), {"task is '[]'"}},
    {task_of("{}"), {"task has no type"}},
    {task_of(R"({"index":0})"), {"task has no type"}},
    {task_of(R"({"type":"worker"})"), {"task has no index"}},
    {task_of(R"({"type":3,"index":0})"), {"task.type is '3'"}},
    {task_of(R"({"type":"Worker","index":0})"), {"task.type is 'Worker'"}},
    {task_of(R"({"type":"","index":0})"), {"task.type is ''"}},
    {task_of(R"({"type":"chief","index":0})"), {"task.type is 'chief'", "cluster has no chief"}},
    {task_of(R"({"type":"ps","index":0})"), {"task.type is 'ps'", "cluster has no ps"}},
    {task_of(R"({"type":"worker","index":2})"), {"task.index is 2", "cluster.worker has 2"}},
    {task_of(R"({"type":"worker","index":-1})"), {"task.index is '-1'"}},
    {task_of(R"({"type":"worker","index":99999})"), {"task.index is '99999'"}},
    {task_of(R"({"type":"worker","index":123456789012345678901})"), {"task.index is"}},
    {task_of(R"({"type":"worker","index":0.5})"), {"task.index is '0.5'", "whole"}},
    {task_of(R"({"type":"worker","index":1e400})"), {"too large"}},
    {task_of(R"({"type":"worker","index":true})"), {"task.index is 'true'"}},
    {task_of(R"({"type":"worker","index":null})"), {"task.index is 'null'"}},
    {task_of(R"({"type":"worker","index":[0]})"), {"task.index is '[0]'"}},
    {task_of(R"({"type":"worker","index":""})"), {"task.index is ''"}},
    {task_of(R"({"type":"worker","index":"one"})"), {"task.index is 'one'"}},
    {task_of(R"({"type":"worker","index":"1 "})"), {"task.index is '1 '"}},
};

void expect_refused(const BadValue& bad) {
  const std::string refusal = refusal_of(given_of({"TF_CONFIG=" + bad.value}));
  EXPECT_THAT(refusal, HasSubstr("TF_CONFIG"));
  for (const char* words : bad.words) EXPECT_THAT(refusal, HasSubstr(words)) << bad.value;
}

TEST(BadTfConfig, IsRefusedWhereItsShapeIsWrong) {
  for (const BadValue& bad : kShapes) expect_refused(bad);
}
TEST(BadTfConfig, IsRefusedWhereItsClusterIsWrong) {
  for (const BadValue& bad : kClusters) expect_refused(bad);
}
TEST(BadTfConfig, IsRefusedWhereItsTaskIsWrong) {
  for (const BadValue& bad : kTasks) expect_refused(bad);
}

TEST(BadTfConfig, WithMoreTasksThanThereMayBeIsRefused) {
  std::string workers;
  for (std::size_t i = 0; i <= kMaxRanks; ++i) {
    workers += (i == 0 ? "\"w" : ",\"w") + std::to_string(i) + ":1\"";
  }
  EXPECT_THAT(refusal_of(given_of({"TF_CONFIG=" + cluster_of("\"worker\":[" + workers + "]")})),
              HasSubstr("more than 4096 tasks"));
}

struct BadFlags {
  std::vector<std::string> arguments;
  std::vector<const char*> words;
};

const BadFlags kFlags[] = {
    {{"--worker_hosts=a:1"}, {"--worker_hosts also needs --job_name"}},
    {{"--worker_hosts=a:1", "--job_name=worker"}, {"needs --task_index"}},
    {{"--worker_hosts"}, {"--worker_hosts needs a value"}},
    {{"--worker_hosts=a:1", "--job_name=chief", "--task_index=0"}, {"--job_name is 'chief'"}},
    {{"--worker_hosts=a:1", "--job_name=worker", "--task_index=1"},
     {"--task_index is 1", "--worker_hosts has 1 task"}},
    {{"--worker_hosts=a:1", "--job_name=worker", "--task_index=-1"}, {"--task_index is '-1'"}},
    {{"--worker_hosts=a:1", "--job_name=worker", "--task_index=x"}, {"--task_index is 'x'"}},
    {{"--worker_hosts=a:1", "--job_name=ps", "--task_index=0"}, {"--worker_hosts", "ps"}},
    {{"--worker_hosts=a", "--job_name=worker", "--task_index=0"}, {"'a'", "needs a port"}},
    {{"--worker_hosts=a:1,", "--job_name=worker", "--task_index=0"}, {"--worker_hosts[1] has ''"}},
    {{"--worker_hosts=", "--job_name=worker", "--task_index=0"}, {"--worker_hosts[0] has ''"}},
    {{"--worker_hosts=a:1,a:1", "--job_name=worker", "--task_index=0"}, {"'a:1' twice"}},
    {{"--worker_hosts=a:1", "--worker_hosts=b:1"}, {"'a:1' and 'b:1'", "give it once"}},
};

TEST(BadTaskFlags, AreRefused) {
  for (const BadFlags& bad : kFlags) {
    Given given = given_of({});
    given.arguments = bad.arguments;
    const std::string refusal = refusal_of(given);
    for (const char* words : bad.words) EXPECT_THAT(refusal, HasSubstr(words));
  }
}

}  // namespace
}  // namespace rota::cluster
