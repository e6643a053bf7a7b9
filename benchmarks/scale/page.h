// Makes the tables and the picture of a page from the rows that `rota-bench scale` and the programs
// of its peers have printed in turn.
#pragma once
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "scale/row.h"

namespace rota::bench {

// All rows of one table: one model, one scaling, one network.
struct ScaleTable {
  std::string title;  // "lenet, weak scaling, hosts at 1 Gbit/s"

  // The rows of a job of one size, by the library's name. Row k of a name is of round k.
  struct Job {
    std::size_t ranks = 0;
    std::size_t hosts = 0;
    std::map<std::string, std::vector<ScaleRow>> rows;
  };
  std::vector<Job> jobs;  // In the order in which they first appear, as are the tables.
};

// Throws std::runtime_error with the line if a line is not a row.
std::vector<ScaleTable> scale_tables_from(std::istream& lines);

// Returns the tables in Markdown: medians of the rounds. `ours` is the name of the library whose
// steps are divided by those of the others, round by round: "rota". Throws std::runtime_error if
// two libraries ran different numbers of rounds.
std::string markdown_of(const std::vector<ScaleTable>& tables, const std::string& ours);

// Returns the picture: efficiency by workers, one chart for each table of paced weak scaling.
std::string drawing_of(const std::vector<ScaleTable>& tables, const std::string& title);

}  // namespace rota::bench
