// Tests which files are calibrations, and that a calibration is used only for what was measured.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "predict/calibration.h"

namespace rota::bench {
namespace {

const std::string kMeasured =
    "rota-calibration 1\n"
    "machine Some CPU, 2 CPUs\n"
    "transport tcp encrypted\n"
    "within-host 2e-06 5e-07 1e-10\n"
    "between-hosts 3e-05 0 8e-09\n"
    "additions 2e-10\n"
    "codec int8 3e-10 4e-10\n";

// Returns what is said about the measured text with one line replaced.
std::string refused_calibration(const std::string& line, const std::string& by) {
  std::string text = kMeasured;
  text.replace(text.find(line), line.size(), by);
  try {
    parse_calibration("c.txt", text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string difference(const std::string& machine, const std::string& transport) {
  try {
    require_same("c.txt", parse_calibration("c.txt", kMeasured), machine, transport);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Calibration, IsReadAndWritten) {
  const Calibration calibration = parse_calibration("c.txt", kMeasured);
  EXPECT_EQ(calibration.machine, "Some CPU, 2 CPUs");
  EXPECT_EQ(calibration.transport, "tcp encrypted");
  EXPECT_EQ(calibration.costs.within_host.busy_seconds, 5e-7);
  EXPECT_EQ(calibration.costs.between_hosts.latency_seconds, 3e-5);
  EXPECT_EQ(calibration.costs.between_hosts.seconds_per_byte, 8e-9);
  EXPECT_EQ(calibration.costs.reduce_seconds_per_byte, 2e-10);
  EXPECT_EQ(calibration.codecs.at(Codec::kInt8).decode_seconds_per_byte, 4e-10);
  EXPECT_EQ(to_text(calibration), kMeasured);
}

TEST(Calibration, OfOneHostHasOneLink) {
  EXPECT_EQ(refused_calibration("between-hosts 3e-05 0 8e-09\n", ""), "");
  Calibration calibration = parse_calibration("c.txt", kMeasured);
  calibration.costs.between_hosts = {};
  EXPECT_EQ(to_text(calibration).find("between-hosts"), std::string::npos);
}

TEST(Calibration, WithAnImpossibleCostIsRefused) {
  const auto with = [](const std::string& link) {
    return refused_calibration("between-hosts 3e-05 0 8e-09", "between-hosts " + link);
  };
  EXPECT_EQ(with("0 0 8e-09"), "c.txt line 5: the latency is 0; it must be more than 0");
  EXPECT_EQ(with("-1 0 8e-09"), "c.txt line 5: the latency is -1; it must be more than 0");
  EXPECT_EQ(with("inf 0 8e-09"), "c.txt line 5: the latency is inf; it must be finite");
  EXPECT_EQ(with("1 -1 8e-09"), "c.txt line 5: the busy time is -1; it must not be negative");
  EXPECT_EQ(with("1 0 0"), "c.txt line 5: the time of a byte is 0; it must be more than 0");
  EXPECT_EQ(with("1 0 nan"), "c.txt line 5: the time of a byte is nan; it must be finite");
  EXPECT_EQ(with("1 0"),
            "c.txt line 5 has 3 words; the form is: between-hosts LATENCY BUSY SECONDS_PER_BYTE");
  EXPECT_EQ(refused_calibration("additions 2e-10", "additions 0"),
            "c.txt line 6: the time to add a byte is 0; it must be more than 0");
}

TEST(Calibration, OfAnotherFormIsRefused) {
  EXPECT_EQ(refused_calibration("rota-calibration 1", "rota-tuned 1"),
            "c.txt does not begin with 'rota-calibration 1', so it is not a file of this kind");
  EXPECT_EQ(refused_calibration("machine Some CPU, 2 CPUs\n", ""), "c.txt has no line 'machine'");
  EXPECT_EQ(refused_calibration("machine Some CPU, 2 CPUs", "machine"),
            "c.txt line 2: 'machine' is empty");
  EXPECT_EQ(refused_calibration("codec int8", "codec int9"), "c.txt line 7: no codec is 'int9'");
  EXPECT_EQ(refused_calibration("additions", "multiplications"),
            "c.txt line 6: 'multiplications' is not known; there are machine, transport, "
            "within-host, between-hosts, additions and codec");
}

// Of two lines with the same name, one must be a mistake.
TEST(Calibration, WithALineThatIsThereTwiceIsRefused) {
  const auto with_more = [](const std::string& line) {
    const std::string last = "codec int8 3e-10 4e-10\n";
    return refused_calibration(last, last + line);
  };
  EXPECT_EQ(with_more("between-hosts 1e-05 0 8e-09\n"),
            "c.txt line 8: 'between-hosts' is there twice");
  EXPECT_EQ(with_more("machine Some CPU, 2 CPUs\n"), "c.txt line 8: 'machine' is there twice");
  EXPECT_EQ(with_more("codec int8 3e-10 4e-10\n"), "c.txt line 8: 'codec int8' is there twice");
  EXPECT_EQ(with_more("codec bf16 3e-10 4e-10\n"), "");
}

TEST(Calibration, OfAnotherMachineOrTransportIsRefused) {
  EXPECT_EQ(difference("Some CPU, 2 CPUs", "tcp encrypted"), "");
  EXPECT_EQ(difference("Some CPU, 4 CPUs", "tcp encrypted"),
            "c.txt was measured on 'Some CPU, 2 CPUs', and this prediction is for 'Some CPU, 4 "
            "CPUs': measure there, or name the other machine with --machine");
  EXPECT_EQ(difference("Some CPU, 2 CPUs", "tcp"),
            "c.txt was measured over tcp encrypted, and this prediction is for tcp: measure over "
            "that transport, or name the other one with --transport");
}

TEST(Calibration, NamesThisMachineAsAFileGivesItBack) {
  Calibration calibration = parse_calibration("c.txt", kMeasured);
  calibration.machine = this_machine();
  EXPECT_EQ(parse_calibration("c.txt", to_text(calibration)).machine, this_machine());
}

}  // namespace
}  // namespace rota::bench
