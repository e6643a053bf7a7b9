// Only users who may read the key file of a job can find the job's key anywhere.
#include <algorithm>

#include "auth/key.h"
#include "hosts/across_hosts.h"
#include "hosts/attacks.h"
#include "testing/proc.h"

namespace rota::testing {
namespace {

const std::vector<std::size_t> kSlots = {2, 2, 1};

std::string in_hex(const std::string& bytes, const char* digits) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string in_base64(const std::string& bytes) {
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i + 2 < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | static_cast<unsigned char>(bytes[i + j]);
    }
    for (int shift = 18; shift >= 0; shift -= 6) text += digits[group >> shift & 63];
  }
  return text;
}

// Returns the traces of both halves of a key, since half of a key is a secret too.
std::vector<std::string> traces_of(const std::string& key) {
  std::vector<std::string> traces;
  for (const std::string& part : {key.substr(0, 15), key.substr(15, 15)}) {
    for (const std::string& text : {part, in_hex(part, "0123456789abcdef"),
                                    in_hex(part, "0123456789ABCDEF"), in_base64(part)}) {
      traces.push_back(text);
    }
  }
  return traces;
}

class SecretsTest : public AcrossHosts {
 protected:
  void SetUp() override {
    AcrossHosts::SetUp();
    if (!network_) return;
    std::string secret(32, '\0');
    std::ranges::generate(
        secret, [next = 0xa1U]() mutable { return static_cast<char>(next = 5 * next + 3); });
    key_file_ = write_key("secret", secret);
    traces_ = traces_of(secret);
    const std::string job_id = host_plan_of(*network_, kSlots).job_id;
    const auth::Key key = auth::job_key(std::as_bytes(std::span(secret)), job_id);
    const auto* text = reinterpret_cast<const char*>(key.bytes().data());
    for (std::string& trace : traces_of({text, auth::kKeyBytes})) {
      traces_.push_back(std::move(trace));
    }
  }

  // Returns "cmdline" or "environ" if that file of the process has a trace of a key; otherwise an
  // empty text.
  std::string exposure_of(pid_t pid) const {
    for (const char* name : {"cmdline", "environ"}) {
      if (has_trace(proc_file(pid, name))) return name;
    }
    return "";
  }

  bool has_trace(const std::string& text) const {
    return std::ranges::any_of(
        traces_, [&](const auto& trace) { return text.find(trace) != std::string::npos; });
  }

  std::vector<std::string> traces_;
};

// Without this test, a search that never finds anything would also pass.
TEST_F(SecretsTest, AreFoundByThisTestWhereTheyAre) {
  for (const std::string& trace : traces_) {
    EXPECT_TRUE(has_trace("what is before" + trace + "what is after"));
    if (trace.find('\0') != std::string::npos) continue;
    Process exposed({.arguments = {"/bin/sh", "-c", "echo ready; kill -STOP $$"},
                     .environment = {"SECRET=" + trace}});
    ASSERT_TRUE(exposed.wait_for("ready"));
    EXPECT_EQ(exposure_of(exposed.pid()), "environ");
  }
}

TEST_F(SecretsTest, AreInNoArgumentNoEnvironmentAndNoOutput) {
  environment_ = {"ROTA_HOSTS=" + hosts(kSlots), "ROUNDS=50"};
  auto all = start_all({"-v", rank_program()});
  for (const auto& each : all) ASSERT_TRUE(each->wait_for("sum 15"));
  std::size_t ranks = 0;
  std::size_t rotaruns = 0;
  for (const pid_t pid : live_descendants()) {
    const std::string program = proc_file(pid, "cmdline");
    ranks += program.starts_with(rank_program()) ? 1 : 0;
    rotaruns += program.starts_with(rotarun_path()) ? 1 : 0;
    EXPECT_EQ(exposure_of(pid), "") << program;
  }
  EXPECT_EQ(ranks, 5U);
  EXPECT_GE(rotaruns, all.size());
  EXPECT_THAT(all[0]->err(), HasSubstr("3 hosts met after"));
  for (const auto& each : all) {
    const Result result = each->wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(has_trace(result.out)) << result.out;
    EXPECT_FALSE(has_trace(result.err)) << result.err;
  }
}

}  // namespace
}  // namespace rota::testing
