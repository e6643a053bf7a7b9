// Tests which files are workloads, and what is said about the other ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "predict/workload.h"

namespace rota::bench {
namespace {

// Returns what parse_workload() says about a text; empty if it takes the text.
std::string refusal_of(const std::string& text) {
  try {
    parse_workload("w.txt", text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

const std::string kHead = "rota-workload 1\nforward 0.5\n";

TEST(Workload, IsReadInForwardOrder) {
  const Workload workload = parse_workload(
      "w.txt",
      "# Two layers.\n\nrota-workload 1\nname two\nforward 0.5  # Seconds.\nupdate 0.125\n"
      "gradient first 400 0.25\n\tgradient last 40 1e-3\r\n");
  EXPECT_EQ(workload, (Workload{.name = "two",
                                .forward_seconds = 0.5,
                                .update_seconds = 0.125,
                                .gradients = {{"first", 100, 0.25}, {"last", 10, 1e-3}}}));
  EXPECT_EQ(gradient_bytes_of(workload), 440u);
  EXPECT_EQ(alone_seconds_of(workload), 0.5 + 0.125 + 0.25 + 1e-3);
}

TEST(Workload, IsTheSameAfterItWasWritten) {
  const Workload workload{.name = "two",
                          .forward_seconds = 0.1,
                          .update_seconds = 0,
                          .gradients = {{"first", 100, 1.0 / 3}, {"last", 10, 1e-9}}};
  EXPECT_EQ(parse_workload("w.txt", to_text(workload)), workload);
}

TEST(Workload, IsNamedAfterItsFileByDefault) {
  EXPECT_EQ(parse_workload("w.txt", kHead + "gradient a 4 1\n").name, "w.txt");
}

// The path would be several words, or a comment.
TEST(Workload, IsWrittenWithoutANameThatNoLineCanHave) {
  for (const std::string path : {"my models/two.txt", "models#2.txt", "tab\there", "two\nlines"}) {
    const Workload workload = parse_workload(path, kHead + "gradient a 4 1\n");
    EXPECT_EQ(workload.name, path);
    Workload copy = parse_workload("copy.txt", to_text(workload));
    EXPECT_EQ(copy.name, "copy.txt");
    copy.name = path;
    EXPECT_EQ(copy, workload);
  }
}

TEST(Workload, OfAnotherFormIsRefused) {
  EXPECT_EQ(refusal_of(""),
            "w.txt does not begin with 'rota-workload 1', so it is not a file of this kind");
  EXPECT_EQ(refusal_of("rota-workload 2\n"),
            "w.txt does not begin with 'rota-workload 1', so it is not a file of this kind");
  EXPECT_EQ(refusal_of("rota-workload 1\ngradient a 4 1\n"), "w.txt has no line 'forward SECONDS'");
  EXPECT_EQ(refusal_of(kHead), "w.txt has no line 'gradient NAME BYTES SECONDS'");
  EXPECT_EQ(refusal_of(kHead + "gradient a 4\n"),
            "w.txt line 3 has 3 words; the form is: gradient NAME BYTES SECONDS");
  EXPECT_EQ(refusal_of(kHead + "backward 1\n"),
            "w.txt line 3: 'backward' is not known; there are name, forward, update and gradient");
  EXPECT_EQ(refusal_of(kHead + "forward 1\n"), "w.txt line 3: 'forward' is there twice");
}

TEST(Workload, WithAGradientOfNoBytesIsRefused) {
  EXPECT_EQ(refusal_of(kHead + "gradient a 0 1\n"),
            "w.txt line 3: gradient a has 0 bytes; it must have values");
  EXPECT_EQ(refusal_of(kHead + "gradient a 6 1\n"),
            "w.txt line 3: gradient a has 6 bytes; a float32 has 4 bytes, so that must be a "
            "multiple of 4");
  for (const char* bytes : {"-4", "4.0", "x", "99999999999999999999", "1125899906842628"}) {
    EXPECT_THAT(refusal_of(kHead + "gradient a " + bytes + " 1\n"),
                ::testing::HasSubstr(std::string("w.txt line 3: gradient a has ") + bytes +
                                     " bytes; that is not a whole number of at most "));
  }
}

TEST(Workload, WithAGradientOfNoTimeIsRefused) {
  const std::string what = "w.txt line 3: the seconds of gradient a ";
  EXPECT_EQ(refusal_of(kHead + "gradient a 4 0\n"), what + "is 0; it must be more than 0");
  EXPECT_EQ(refusal_of(kHead + "gradient a 4 -1\n"), what + "is -1; it must be more than 0");
  EXPECT_EQ(refusal_of(kHead + "gradient a 4 inf\n"), what + "is inf; it must be finite");
  EXPECT_EQ(refusal_of(kHead + "gradient a 4 nan\n"), what + "is nan; it must be finite");
  EXPECT_EQ(refusal_of(kHead + "gradient a 4 1s\n"), what + "'1s' is not a number");
}

TEST(Workload, WithAnotherTimeThatIsNoneIsRefused) {
  EXPECT_EQ(refusal_of("rota-workload 1\nforward 0\n"),
            "w.txt line 2: the forward pass is 0; it must be more than 0");
  EXPECT_EQ(refusal_of(kHead + "update -1\n"),
            "w.txt line 3: the update is -1; it must not be negative");
}

}  // namespace
}  // namespace rota::bench
