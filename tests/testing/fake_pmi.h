// A launcher with a server of PMI-1, for the tests of ranks that meet through one.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>

namespace rota::testing {

// Answers one rank as MPICH's launcher does, but lets barriers pass alone: ranks must talk one
// after the other, rank 0 first.
class FakePmi {
 public:
  void serve(int socket) {
    std::string in;
    std::array<char, 512> bytes{};
    for (ssize_t count = 0; (count = ::read(socket, bytes.data(), bytes.size())) > 0;) {
      in.append(bytes.data(), static_cast<std::size_t>(count));
      for (std::size_t end = 0; (end = in.find('\n')) != std::string::npos;) {
        const std::string out = answer(in.substr(0, end)) + "\n";
        in.erase(0, end + 1);
        EXPECT_EQ(::write(socket, out.data(), out.size()), static_cast<ssize_t>(out.size()));
      }
    }
  }

  // What rank 0 has put; empty: nothing yet.
  std::string& word() { return values_[" key=rota.rank0"]; }

 private:
  std::string answer(const std::string& line) {
    const auto is = [&](const std::string& command) { return line.starts_with("cmd=" + command); };
    if (is("init")) return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
    if (is("get_maxes")) return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
    if (is("get_my_kvsname")) return "cmd=my_kvsname kvsname=kvs";
    if (is("barrier_in")) return "cmd=barrier_out";
    if (is("finalize")) return "cmd=finalize_ack";
    const std::string key =
        line.substr(line.find(" key="), line.find(" value=") - line.find(" key="));
    if (is("put")) values_[key] = line.substr(line.find(" value=") + 7);
    if (is("put")) return "cmd=put_result rc=0 msg=success";
    return "cmd=get_result rc=0 msg=success value=" + values_[key];
  }

  std::map<std::string, std::string> values_;
};

}  // namespace rota::testing
