// Tests which requests to a status port are read, which are incomplete, and which are refused.
#include "launcher/status/http_request.h"

#include <gtest/gtest.h>

namespace rota::launcher {
namespace {

using State = HttpReading::State;

struct Request {
  std::string bytes;
  State state;
  std::string method;  // Empty unless the request is complete.
  std::string path;
  int status;
};

Request complete(const std::string& bytes, const std::string& method, const std::string& path) {
  return {bytes, State::kComplete, method, path, 0};
}
Request refused(const std::string& bytes, int status = 400) {
  return {bytes, State::kRefused, "", "", status};
}
Request incomplete(const std::string& bytes) { return {bytes, State::kIncomplete, "", "", 0}; }

void expect_each(const std::vector<Request>& rows) {
  for (const Request& row : rows) {
    const HttpReading reading = read_http_request(row.bytes);
    EXPECT_EQ(reading.state, row.state) << row.bytes.substr(0, 100);
    EXPECT_EQ(reading.request.method, row.method) << row.bytes.substr(0, 100);
    EXPECT_EQ(reading.request.path, row.path) << row.bytes.substr(0, 100);
    EXPECT_EQ(reading.status, row.status) << row.bytes.substr(0, 100);
    EXPECT_EQ(reading.why.empty(), row.status == 0) << row.bytes.substr(0, 100);
  }
}

TEST(HttpRequest, IsReadInEverySpelling) {
  expect_each({
      complete("GET /livez HTTP/1.0\r\n\r\n", "GET", "/livez"),
      complete("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", "GET", "/livez"),
      complete("HEAD /livez HTTP/1.1\r\nhOST:a:80\r\nAccept: */*\r\n\r\n", "HEAD", "/livez"),
      complete("GET /livez HTTP/1.0\n\n", "GET", "/livez"),
      complete("\r\n\r\nGET /livez HTTP/1.0\r\n\r\n", "GET", "/livez"),
      complete("GET /livez?verbose=1 HTTP/1.0\r\n\r\n", "GET", "/livez"),
      complete("GET /livez#top HTTP/1.0\r\n\r\n", "GET", "/livez"),
      complete("GET http://a:8080/livez HTTP/1.0\r\n\r\n", "GET", "/livez"),
      complete("GET http://a HTTP/1.0\r\n\r\n", "GET", "/"),
      complete("GET http://a?livez HTTP/1.0\r\n\r\n", "GET", "/"),
      complete("OPTIONS * HTTP/1.0\r\n\r\n", "OPTIONS", "*"),
      complete("POST /livez HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", "POST", "/livez"),
      complete("GET /livez HTTP/1.0\r\nName: caf\xc3\xa9\t1\r\n\r\n", "GET", "/livez"),
  });
}

TEST(HttpRequest, SaysWhomItIsFor) {
  const auto host_of = [](const std::string& target, const std::string& fields) {
    return read_http_request("GET " + target + " HTTP/1.0\r\n" + fields + "\r\n").request.host;
  };
  EXPECT_EQ(host_of("/livez", ""), "");
  EXPECT_EQ(host_of("/livez", "Host: a\r\n"), "a");
  EXPECT_EQ(host_of("/livez", "HOST:a.b:8080 \r\n"), "a.b");
  EXPECT_EQ(host_of("/livez", "Host: [fd00::1]:80\r\n"), "fd00::1");
  EXPECT_EQ(host_of("http://a:80/livez", "Host: b\r\n"), "a");
}

TEST(HttpRequest, IsWaitedForUntilItsHeadEnds) {
  const std::string whole = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    expect_each({incomplete(whole.substr(0, bytes))});
  }
}

TEST(HttpRequest, IsRefusedWhereItIsUnclear) {
  const std::string nul(1, '\0');
  expect_each({
      refused("\x16\x03\x01"),  // The first bytes of TLS: the parser does not wait for more.
      refused("GET\r\n"),
      refused("GET /livez\r\n\r\n"),
      refused(" GET /livez HTTP/1.0\r\n\r\n"),
      refused("GET  HTTP/1.0\r\n\r\n"),
      refused("GET /a b HTTP/1.0\r\n\r\n"),
      refused("GET /a" + nul + "b HTTP/1.0\r\n\r\n"),
      refused("GET /\xc3\xa9 HTTP/1.0\r\n\r\n"),
      refused("GET /livez HTTP/2.0\r\n\r\n"),
      refused("GET /livez HTTP/1.x\r\n\r\n"),
      refused("GET /livez http/1.0\r\n\r\n"),
      refused("GET /livez HTTP/1.0 \r\n\r\n"),
      refused("GET /livez HTTP/1.1\r\n\r\n"),
      refused("GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
      refused("GET /livez HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"),
      refused("GET /livez HTTP/1.0\r\nno field\r\n\r\n"),
      refused("GET /livez HTTP/1.0\r\nName : spaced\r\n\r\n"),
      refused("GET /livez HTTP/1.0\r\nName: a\r\n folded\r\n\r\n"),
      refused("GET /livez HTTP/1.0\r\nName: a\rb\r\n\r\n"),
      refused("GET /livez HTTP/1.0\r\n: nameless\r\n\r\n"),
  });
}

TEST(HttpRequest, HasALimit) {
  const std::string begin = "GET /livez HTTP/1.0\r\nName: ";
  const std::string end = "\r\n\r\n";
  const std::string most(kMaxRequestBytes - begin.size() - end.size(), 'x');
  expect_each({
      complete(begin + most + end, "GET", "/livez"),
      complete(begin + most + end + "a body", "GET", "/livez"),
      incomplete(begin + most + "\r\n\r"),
      refused(begin + most + "x" + end, 431),
      refused("GET /" + std::string(kMaxRequestBytes, 'x'), 431),
      refused(std::string(kMaxRequestBytes, 'x'), 431),
  });
}

}  // namespace
}  // namespace rota::launcher
