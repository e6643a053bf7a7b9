// Tests rotarun --status-port over real sockets: probes get answers, and bad clients do not disturb
// the job.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "launcher/launched.h"
#include "os/address.h"
#include "os/host.h"
#include "os/listener.h"
#include "testing/own_ports.h"

namespace rota::launcher {
namespace {

using nlohmann::json;

// One connection. A Call waits long enough for a rotarun built with sanitizers.
class Call {
 public:
  // `from`: the local address to call from; empty: any.
  explicit Call(const std::string& address, const std::string& from = "") {
    const os::Address target = os::parse_address(address);
    socket_ = os::Fd(::socket(target.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!from.empty()) {
      const os::Address source = os::parse_address(from + ":0");
      EXPECT_EQ(::bind(socket_.get(), source.get(), source.bytes()), 0);
    }
    is_connected_ = ::connect(socket_.get(), target.get(), target.bytes()) == 0;
  }

  bool is_connected() const noexcept { return is_connected_; }

  void say(const std::string& bytes) {
    std::size_t said = 0;
    while (said < bytes.size()) {
      const ssize_t count =
          ::send(socket_.get(), bytes.data() + said, bytes.size() - said, MSG_NOSIGNAL);
      if (count <= 0) return;
      said += static_cast<std::size_t>(count);
    }
  }
  void say_no_more() { ::shutdown(socket_.get(), SHUT_WR); }

  // Reads until rotarun closes the connection. The text ends with "(still there)" if rotarun does
  // not.
  std::string hear() {
    std::string text;
    char buffer[4096];
    for (;;) {
      pollfd item{socket_.get(), POLLIN, 0};
      if (::poll(&item, 1, 30'000) != 1) return text + "(still there)";
      const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) return text;
      text.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  os::Fd socket_;
  bool is_connected_ = false;
};

class StatusPort : public Launched {
 protected:
  // Returns a script for ranks that run until the file `folder_/end` exists.
  std::string until_end() const { return "until [ -e " + folder_ + "/end ]; do sleep 0.05; done"; }
  void end() const { std::ofstream(folder_ + "/end") << "\n"; }

  static std::vector<std::string> options(std::vector<std::string> more) {
    more.insert(more.begin(), {"--status-port", "0"});
    return more;
  }

  // Returns the address at which a started rotarun says that it listens.
  static std::string address_of(Process& job) {
    const std::string begin = "rotarun: status at http://";
    EXPECT_TRUE(job.wait_for(begin));
    EXPECT_TRUE(job.wait_for("\n"));
    const std::size_t at = job.err().find(begin) + begin.size();
    return job.err().substr(at, job.err().find('\n', at) - at);
  }

  static std::string ask(const std::string& address, const std::string& request) {
    Call call(address);
    call.say(request);
    return call.hear();
  }

  static std::string get(const std::string& address, const std::string& path) {
    return ask(address, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  static std::string body_of(const std::string& response) {
    const std::size_t end = response.find("\r\n\r\n");
    return end == std::string::npos ? "no response: " + response : response.substr(end + 4);
  }

  // Asks until the answer has `text`, and returns the answer.
  static std::string get_until(const std::string& address, const std::string& path,
                               const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + seconds(30);
    std::string response;
    do {
      response = get(address, path);
    } while (response.find(text) == std::string::npos && std::chrono::steady_clock::now() < end);
    return response;
  }

  static void expect_alive(const std::string& address) {
    EXPECT_EQ(body_of(get(address, "/livez")), "ok");
    EXPECT_EQ(body_of(get_until(address, "/readyz", "200 OK")), "ok");
  }

  void expect_good_end(Process& job) const {
    end();
    const Result result = job.wait();
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
};

TEST_F(StatusPort, AnswersProbes) {
  Process job(rotarun(script(options({"-np", "2"}), until_end())));
  const std::string address = address_of(job);
  EXPECT_THAT(address, ::testing::StartsWith("127.0.0.1:"));
  EXPECT_THAT(get_until(address, "/readyz", "200 OK"), ::testing::EndsWith("\r\n\r\nok"));
  EXPECT_EQ(body_of(get(address, "/livez")), "ok");
  EXPECT_THAT(ask(address, "HEAD /livez HTTP/1.0\r\n\r\n"), ::testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(get(address, "/none"), HasSubstr(" 404 "));
  EXPECT_THAT(ask(address, "POST /livez HTTP/1.0\r\nContent-Length: 100000\r\n\r\n" +
                               std::string(100'000, 'x')),
              HasSubstr(" 405 "));
  expect_good_end(job);
}

TEST_F(StatusPort, HasTheTableWithTheStateOfEachRank) {
  testing::Command command = rotarun(script(options({"-np", "3", "--transport", "tcp"}),
                                            "[ $ROTA_RANK != 1 ] || exit 0; " + until_end()));
  command.environment = {"CUDA_VISIBLE_DEVICES=0,1,2"};
  Process job(std::move(command));
  const std::string address = address_of(job);
  EXPECT_EQ(body_of(get_until(address, "/readyz", "200 OK")), "ok");
  const json table = json::parse(body_of(get_until(address, "/ranks", "ended")));
  EXPECT_EQ(table["source"], "rotarun -np 3");
  EXPECT_EQ(table["world"], 3);
  const json& ranks = table["ranks"];
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const bool has_ended = rank == 1;
    EXPECT_EQ(ranks[rank]["rank"], rank);
    EXPECT_EQ(ranks[rank]["host"], os::host_name());
    EXPECT_THAT(ranks[rank]["address"].get<std::string>(), ::testing::StartsWith("127.0.0.1:"));
    EXPECT_EQ(ranks[rank]["role"], rank == 0 ? "chief" : "worker");
    EXPECT_EQ(ranks[rank]["devices"], json({std::to_string(rank)}));
    EXPECT_EQ(ranks[rank]["state"], has_ended ? "ended" : "running");
    EXPECT_EQ(ranks[rank]["exit_code"], has_ended ? json(0) : json(nullptr));
  }
  EXPECT_EQ(body_of(get(address, "/readyz")), "ok");
  expect_good_end(job);
}

// Method: rank 1 fails, and rank 0 ignores the request to end. So the job can be asked until
// --grace is over.
TEST_F(StatusPort, IsNotReadyOnceARankHasFailed) {
  const std::string deaf = folder_ + "/deaf";
  const std::string fail = "until [ -e " + deaf + " ]; do sleep 0.05; done; kill -9 $$";
  const std::string stay = "trap '' TERM; touch " + deaf + "; " + until_end();
  Process job(rotarun(script(options({"-np", "2", "--grace", "60"}),
                             "if [ $ROTA_RANK = 1 ]; then " + fail + "; else " + stay + "; fi")));
  const std::string address = address_of(job);
  const std::string response = get_until(address, "/readyz", "has failed");
  EXPECT_THAT(response, HasSubstr(" 503 Service Unavailable\r\n"));
  EXPECT_EQ(body_of(response), "rank 1 (" + os::host_name() + ") has failed");
  EXPECT_THAT(get(address, "/ranks"), HasSubstr("\"state\":\"ended\",\"exit_code\":137"));
  EXPECT_EQ(body_of(get(address, "/livez")), "ok");
  end();
  EXPECT_EQ(job.wait().exit_code, 137);
}

// A StatefulSet needs this, because it restarts every container that ends.
TEST_F(StatusPort, SaysThatTheJobIsDoneUntilItIsAskedToEnd) {
  Process job(rotarun(script(options({"-np", "2", "--when-done", "wait"}), until_end())));
  const std::string address = address_of(job);
  EXPECT_EQ(body_of(get_until(address, "/readyz", "200 OK")), "ok");
  end();
  EXPECT_EQ(body_of(get_until(address, "/readyz", "done")), "done");
  EXPECT_TRUE(
      job.wait_for("done: every rank ended with 0; rotarun waits until it is asked to end"));
  EXPECT_EQ(body_of(get(address, "/livez")), "ok");
  const json table = json::parse(body_of(get(address, "/ranks")));
  for (const auto& row : table["ranks"]) EXPECT_EQ(row["exit_code"], 0);
  job.signal(SIGUSR1);
  EXPECT_TRUE(job.wait_for("got SIGUSR1, but no rank runs that it could be passed on to"));
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 0);
}

TEST_F(StatusPort, IsClosedAtOnceAfterAFailure) {
  const Result result =
      run_rotarun(script(options({"-np", "2", "--when-done", "wait"}), "exit $ROTA_RANK"));
  EXPECT_EQ(result.exit_code, 1);
}

TEST_F(StatusPort, IsAtTheGivenAddressAlone) {
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  const std::string port = address.substr(address.find(':'));
  EXPECT_TRUE(Call("127.0.0.1" + port).is_connected());
  EXPECT_FALSE(Call("127.0.0.2" + port).is_connected());
  EXPECT_FALSE(Call("[::1]" + port).is_connected());
  expect_good_end(job);

  Process other(rotarun({"--status-port", "127.0.0.3:0", "-np", "1", "sleep", "60"}));
  const std::string other_address = address_of(other);
  EXPECT_THAT(other_address, ::testing::StartsWith("127.0.0.3:"));
  EXPECT_FALSE(Call("127.0.0.1" + other_address.substr(other_address.find(':'))).is_connected());
  EXPECT_EQ(body_of(get(other_address, "/livez")), "ok");
  other.signal(SIGTERM);
  EXPECT_EQ(other.wait().exit_code, 143);
}

TEST_F(StatusPort, IsAtEveryAddressOfBothFamiliesWhereItIsToldSo) {
  Process job(rotarun({"--status-port", "[::]:0", "-np", "1", "sleep", "60"}));
  const std::string address = address_of(job);
  const std::string port = address.substr(address.rfind(':'));
  for (const std::string host : {"127.0.0.1", "[::1]"}) {
    EXPECT_EQ(body_of(get(host + port, "/livez")), "ok") << host;
  }
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 143);
}

TEST_F(StatusPort, EndsWith2WhereTheAddressIsTaken) {
  const os::Listener taken = os::listen_on_loopback();
  const Result result = run_rotarun({"--status-port", taken.address, "-np", "1", "echo", "on"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("rotarun: --status-port " + taken.address + ": "));
  EXPECT_THAT(result.err, HasSubstr("Address already in use (tried for 6 s): end the process that "
                                    "has this port, or give another one"));
  const std::string port = taken.address.substr(taken.address.find(':') + 1);
  EXPECT_THAT(run_rotarun({"--status-port", port, "-np", "1", "echo", "on"}).err,
              HasSubstr("--status-port " + taken.address + ": "));
}

// Method: the port is held for a second, as by a rotarun that was killed and still ends its ranks.
TEST_F(StatusPort, WaitsForAPortThatIsStillHeld) {
  os::Listener held = os::listen_on(os::parse_address(testing::free_addresses(1).front()));
  Process job(rotarun({"--status-port", held.address, "-np", "1", "echo", "on"}));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  held = {};
  const Result result = job.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "on\n");
}

TEST_F(StatusPort, EndsWith2WhereTheAddressIsNone) {
  for (const std::string text : {"", "x", ":80", "65536", "-1", "a:80", "::1:80", "1.2.3.4",
                                 "1.2.3.4:", "1.2.3.4.5:80", "192.0.2.1:80"}) {
    const Result result = run_rotarun({"--status-port", text, "-np", "1", "echo", "on"});
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_EQ(result.out, "") << text;
    EXPECT_THAT(result.err, HasSubstr("--status-port " + text)) << text;
  }
}

TEST_F(StatusPort, AnswersWhoHasNoMoreToSay) {
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  Call call(address);
  call.say("GET /livez HTTP/1.0\r\n\r\n");
  call.say_no_more();
  EXPECT_EQ(body_of(call.hear()), "ok");
  Call silent(address);
  silent.say_no_more();
  EXPECT_EQ(silent.hear(), "");
  expect_good_end(job);
}

TEST_F(StatusPort, WaitsForASlowCallerFor2Seconds) {
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  Call mute(address);
  Call slow(address);
  slow.say("GET /livez HT");
  Call deaf(address);  // This caller never hangs up after its answer.
  deaf.say("GET /livez HTTP/1.0\r\n\r\n");
  expect_alive(address);
  EXPECT_EQ(mute.hear(), "");
  EXPECT_EQ(slow.hear(), "");
  EXPECT_EQ(body_of(deaf.hear()), "ok");
  expect_alive(address);
  expect_good_end(job);
}

// Method: the slow callers say nothing. They have one address, and there are more of them than the
// port keeps at a time. The probe sends two packets with a pause between them, as over a long
// distance.
TEST_F(StatusPort, AnswersAProbeInTwoPacketsBesideManySlowCallers) {
  constexpr std::size_t kSlow = 1400;
  os::raise_open_file_limit();
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  std::vector<Call> slow;
  for (std::size_t i = 0; i < kSlow; ++i) slow.emplace_back(address, "127.0.0.2");
  for (int probe = 0; probe < 5; ++probe) {
    Call call(address);
    call.say("GET /livez HTTP/1.1\r\n");
    std::this_thread::sleep_for(milliseconds(100));
    for (int i = 0; i < 100; ++i) slow.emplace_back(address, "127.0.0.2");
    call.say("Host: localhost\r\n\r\n");
    EXPECT_EQ(body_of(call.hear()), "ok") << probe;
    slow.erase(slow.begin(), slow.begin() + 100);
  }
  slow.clear();
  expect_good_end(job);
}

// Method: each caller uses an address of its own, so no address has more callers than another.
TEST_F(StatusPort, SendsAwayTheOldestOfAsManyFromEverywhere) {
  if (os::raise_open_file_limit() < 1200) GTEST_SKIP() << "too few descriptors";
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  std::vector<Call> mute;
  mute.reserve(1030);
  for (int i = 0; i < 1020; ++i) {
    mute.emplace_back(address,
                      "127.2." + std::to_string(i / 200) + "." + std::to_string(1 + i % 200));
  }
  Call last(address, "127.0.0.2");  // The first in the order of addresses, but the last to call.
  for (int i = 1; i < 10; ++i) mute.emplace_back(address, "127.3.0." + std::to_string(i));
  expect_alive(address);
  last.say("GET /livez HTTP/1.0\r\n\r\n");
  EXPECT_EQ(body_of(last.hear()), "ok");
  mute.clear();
  expect_good_end(job);
}

// A web page can make its own host name resolve to this address, and could then read the answers of
// this port.
TEST_F(StatusPort, AnswersForNoOtherHost) {
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  const auto ask_for = [&](const std::string& host) {
    return ask(address, "GET /ranks HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  };
  const std::string own = os::host_name();
  for (const std::string& host : {std::string("evil.example"), std::string("evil.example:80"),
                                  std::string("127.0.0.1.evil.example"), own + ".a.b:80"}) {
    EXPECT_THAT(ask_for(host), HasSubstr("HTTP/1.1 421 Misdirected Request")) << host;
    EXPECT_THAT(ask_for(host), Not(HasSubstr("source"))) << host;
  }
  EXPECT_THAT(ask(address, "GET http://evil.example/ranks HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              HasSubstr("HTTP/1.1 421 "));
  for (const std::string& host :
       {address, std::string("localhost:80"), std::string("[::1]:80"), own, own + ":80"}) {
    EXPECT_THAT(ask_for(host), HasSubstr("HTTP/1.1 200 ")) << host;
  }
  expect_good_end(job);
}

TEST_F(StatusPort, RefusesNonsense) {
  Process job(rotarun(script(options({"-np", "1"}), until_end())));
  const std::string address = address_of(job);
  EXPECT_THAT(ask(address, "\x16\x03\x01\x02"), HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(ask(address, "GET /livez HTTP/1.1\r\n\r\n"), HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(ask(address, std::string(200'000, 'x')), HasSubstr("HTTP/1.1 431 "));
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 300; ++i) {
    state = state * 1664525 + 1013904223;
    noise.push_back(static_cast<char>(state >> 24));
    if (i % 10 != 0) continue;
    EXPECT_THAT(ask(address, noise + "\r\n\r\n"), HasSubstr("HTTP/1.1 400 "));
  }
  expect_alive(address);
  expect_good_end(job);
}

// Method: a thousand callers connect at the same time. Some are mute, some stop in the middle, some
// ask properly. Meanwhile the ranks write as fast as they can. Every line of the ranks arrives.
TEST_F(StatusPort, HoldsUpNoJobForAThousandCallers) {
  if (os::raise_open_file_limit() < 1100) GTEST_SKIP() << "too few descriptors";
  Process job(
      rotarun(script(options({"-np", "2"}), "seq 1 100000; " + until_end() + "; echo end")));
  const std::string address = address_of(job);
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 1000; ++i) {
    calls.push_back(std::make_unique<Call>(address));
    ASSERT_TRUE(calls.back()->is_connected());
    if (i % 3 == 1) calls.back()->say("GET /ra");
    if (i % 3 == 2) calls.back()->say("GET /ranks HTTP/1.0\r\n\r\n");
  }
  expect_alive(address);
  EXPECT_EQ(calls.front()->hear(), "");  // rotarun closed the oldest connection.
  end();
  const Result result = job.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2 * 100'001);
}

// Method: rotarun may open only a few descriptors, so it cannot even accept some callers.
TEST_F(StatusPort, OutlivesAWantOfDescriptors) {
  testing::Command command{.arguments = {"/bin/sh", "-c", R"(ulimit -n 40; exec "$0" "$@")"}};
  for (std::string& argument : rotarun(script(options({"-np", "1"}), until_end())).arguments) {
    command.arguments.push_back(std::move(argument));
  }
  Process job(std::move(command));
  const std::string address = address_of(job);
  std::vector<std::unique_ptr<Call>> calls;
  calls.reserve(100);
  for (int i = 0; i < 100; ++i) calls.push_back(std::make_unique<Call>(address));
  EXPECT_THAT(get_until(address, "/livez", "ok"), HasSubstr("200 OK"));
  calls.clear();
  expect_alive(address);
  expect_good_end(job);
}

}  // namespace
}  // namespace rota::launcher
