// Lines of measurements as people read them, in the columns of nccl-tests.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/method.h"

namespace rota::bench {

// In lines of 120 columns at most. What nccl-tests has no column for is the head of a section, such
// as "# all-reduce, plan auto, shared memory, warm, isolated calls".
class Table {
 public:
  // Comments, and the names of the columns. Ends in a newline, as does all that follows.
  static std::string head(const std::string& name, std::size_t ranks);

  // What can be printed once there is a further line, which has one of its two rows: the section of
  // a collective's first line is printed as it is measured, and its others after that.
  std::string add(const Line& line);

  // What is left, and nccl-tests' two closing lines. Empty where there was no line.
  std::string finish();

 private:
  struct Section {
    std::string head;
    std::string lines;
  };

  void count(const Row& row);
  std::string take_waiting();

  std::optional<Row> first_;  // Of the collective whose lines come.
  std::vector<Section> sections_;
  std::size_t row_count_ = 0;
  double bus_bandwidths_ = 0;  // Summed up.
  std::optional<std::size_t> errors_;
};

}  // namespace rota::bench
