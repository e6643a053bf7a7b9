// Prints measurements for people, in the columns of nccl-tests.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collectives/method.h"

namespace rota::bench {

// Lines have at most 120 characters. The plan, the memory, and other properties that have no column
// in nccl-tests are in the head of a section, such as "# all-reduce, plan auto, shared memory,
// warm, isolated calls".
class Table {
 public:
  // Returns comments and the names of the columns. All strings of this class end in a newline.
  static std::string head(const std::string& name, std::size_t ranks);

  // Adds a line, which has at least one row. Returns the text that can be printed now. The first
  // section of a collective is printed while the collective is measured, and the other sections
  // after that.
  std::string add(const Line& line);

  // Returns the remaining lines and the two closing lines of nccl-tests; empty if there was no
  // line.
  std::string finish();

 private:
  struct Section {
    std::string head;
    std::string lines;
  };

  void count(const Row& row);
  std::string take_waiting();

  std::optional<Row> first_;  // First row of the current collective.
  std::vector<Section> sections_;
  std::size_t row_count_ = 0;
  double bus_bandwidths_ = 0;  // Sum over all rows.
  std::optional<std::size_t> errors_;
};

}  // namespace rota::bench
