// Tests what a status port answers to each request.
#include "launcher/status/status_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rota::launcher {
namespace {

using Phase = RankState::Phase;
using ::testing::HasSubstr;
using ::testing::StartsWith;

JobStatus status_of(std::vector<RankState> states) {
  JobStatus status{.table = {}, .states = std::move(states)};
  for (std::size_t rank = 0; rank < status.states.size(); ++rank) {
    status.table.rows.push_back({.host = rank < 2 ? "a" : "b"});
  }
  return status;
}

const OwnNames kNames{.full = "Node7.cluster.example", .of_job = {"mnist-0.mnist"}};

std::string ask(const std::string& line,
                const std::vector<RankState>& states = {{Phase::kRunning}}) {
  Moment moment([&] { return status_of(states); });
  return answer(read_http_request(line + " HTTP/1.0\r\n\r\n"), kNames, moment);
}

std::string body_of(const std::string& response) {
  return response.substr(response.find("\r\n\r\n") + 4);
}

TEST(StatusAnswer, HasWhatWasAskedFor) {
  EXPECT_THAT(ask("GET /livez"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(body_of(ask("GET /livez")), "ok");
  EXPECT_THAT(ask("GET /readyz"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(ask("GET /ranks"), StartsWith("HTTP/1.1 200 OK\r\nContent-Type: application/json"));
  EXPECT_THAT(ask("GET /livez"), HasSubstr("\r\nConnection: close\r\n"));
}

TEST(StatusAnswer, SaysHowLongItIs) {
  for (const char* line : {"GET /livez", "GET /ranks", "GET /none", "PUT /livez"}) {
    const std::string response = ask(line);
    const std::string length = "\r\nContent-Length: " + std::to_string(body_of(response).size());
    EXPECT_THAT(response, HasSubstr(length + "\r\n"));
  }
}

TEST(StatusAnswer, HasNoBodyForHead) {
  for (const std::string path : {"/livez", "/readyz", "/ranks", "/none"}) {
    const std::string whole = ask("GET " + path);
    EXPECT_EQ(ask("HEAD " + path), whole.substr(0, whole.find("\r\n\r\n") + 4));
  }
}

TEST(StatusAnswer, RefusesTheRest) {
  EXPECT_THAT(ask("GET /"), StartsWith("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(ask("GET /livez/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("POST /none"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("POST /livez"), StartsWith("HTTP/1.1 405 Method Not Allowed\r\n"));
  EXPECT_THAT(ask("DELETE /ranks"), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_THAT(ask("get /livez"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(ask("GET /a b"), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_THAT(ask("GET /" + std::string(5000, 'x')),
              StartsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
}

TEST(StatusAnswer, NamesWhoIsAbsent) {
  const RankState starting{};
  const RankState running{Phase::kRunning};
  const RankState done{Phase::kEnded, 0};
  const RankState failed{Phase::kEnded, 3};
  const std::vector<std::pair<std::vector<RankState>, std::string>> rows = {
      {{running, running}, ""},
      {{running, done}, ""},
      {{running, starting, running}, "rank 1 (a) has not started"},
      {{running, starting, starting}, "ranks 1 (a), 2 (b) have not started"},
      {{running, running, failed}, "rank 2 (b) has failed"},
      {{failed, starting}, "rank 1 (a) has not started, and rank 0 (a) has failed"},
      {std::vector<RankState>(12),
       "ranks 0 (a), 1 (a), 2 (b), 3 (b), 4 (b), 5 (b), 6 (b), 7 (b) and 4 more have not started"},
  };
  for (const auto& [states, words] : rows) {
    EXPECT_EQ(absence_text(status_of(states)), words);
    const std::string response = ask("GET /readyz", states);
    EXPECT_THAT(response, StartsWith(words.empty() ? "HTTP/1.1 200 OK\r\n"
                                                   : "HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_EQ(body_of(response), words.empty() ? "ok" : words);
  }
}

TEST(StatusAnswer, IsReadyAndDoneAfterAnAgreedSuccess) {
  Moment moment([] { return JobStatus{.is_done = true}; });
  const std::string response =
      answer(read_http_request("GET /readyz HTTP/1.0\r\n\r\n"), kNames, moment);
  EXPECT_THAT(response, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(body_of(response), "done");
}

std::string ask_for(const std::string& host) {
  Moment moment([] { return JobStatus{}; });
  return answer(read_http_request("GET /ranks HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), kNames,
                moment);
}

TEST(StatusAnswer, IsForWhoAsksForThisHost) {
  for (const char* host : {"10.0.0.7:8080", "[fd00::7]:8080", "localhost", "LocalHost:8080",
                           "localhost.localdomain", "node7", "NODE7.cluster:80", "node7.:8080",
                           "node7.Cluster.example", "mnist-0.mnist", "MNIST-0.mnist:80"}) {
    EXPECT_THAT(ask_for(host), StartsWith("HTTP/1.1 200 ")) << host;
  }
}

// The owner of any name can make the name resolve to this address.
TEST(StatusAnswer, IsForNobodyWhoAsksForAnotherHost) {
  for (const char* host :
       {"evil.example", "localhost.evil.example", "node7.evil.example", "NODE7.evil.example",
        "node7.cluster.example.evil.example", "node", "node70", "mnist-0", "mnist-0.mnist.evil",
        "127.0.0.1.evil.example", "node7.cluster.exampl"}) {
    EXPECT_THAT(ask_for(host), StartsWith("HTTP/1.1 421 Misdirected Request\r\n")) << host;
  }
}

TEST(StatusAnswer, IsMadeForWhoGetsItAndOnceForAll) {
  std::size_t count = 0;
  Moment moment([&] {
    ++count;
    return status_of({{Phase::kRunning}});
  });
  const auto answer_to = [&](const std::string& request) {
    return answer(read_http_request(request + "\r\n\r\n"), kNames, moment);
  };
  answer_to("GET /ranks HTTP/1.1\r\nHost: evil.example");
  answer_to("POST /ranks HTTP/1.0");
  answer_to("GET /livez HTTP/1.0");
  answer_to("GET /none HTTP/1.0");
  EXPECT_EQ(count, 0U);
  const std::string first = answer_to("GET /ranks HTTP/1.0");
  EXPECT_EQ(answer_to("GET /ranks HTTP/1.0"), first);
  EXPECT_THAT(answer_to("GET /readyz HTTP/1.0"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(count, 1U);
}

TEST(StatusAnswer, HasTheTableWithTheStates) {
  const auto table = nlohmann::json::parse(body_of(
      ask("GET /ranks", {{}, {Phase::kRunning}, {Phase::kEnded, 0}, {Phase::kEnded, 137}})));
  EXPECT_EQ(table["world"], 4);
  std::string states;
  for (const auto& row : table["ranks"]) {
    states += row["state"].get<std::string>() + " " + row["exit_code"].dump() + "\n";
  }
  EXPECT_EQ(states, "starting null\nrunning null\nended 0\nended 137\n");
}

}  // namespace
}  // namespace rota::launcher
