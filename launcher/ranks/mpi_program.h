// Programs of MPI's under rotarun. Nobody tells MPI_Init there who the others are: each rank would
// be an MPI world of one, train alone, and end with 0.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace rota::launcher {

// Whether that is the name of a library of MPI's: "libmpi.so.40", "libmpich.so.12".
bool is_mpi_library(std::string_view name);

// The library of MPI's that the program needs, itself or through a library that lies in a folder of
// its own or of LD_LIBRARY_PATH; empty where there is none. What a script or a plug-in loads is not
// seen.
std::string mpi_library_of(const std::string& program_path, const std::string& library_path);

// What is wrong with starting it as one of several ranks.
std::string mpi_complaint(const std::string& program, const std::string& library);

// Looks some times at what the processes of a job have mapped, for what only shows when they run.
class MpiWatch {
 public:
  explicit MpiWatch(base::TimePoint start) : start_(start) {}

  // Long past where a look goes on.
  std::optional<base::TimePoint> next_look() const;

  // A warning, once; empty where there is nothing to say. `list` gives the processes as a look
  // begins; it sees some of them at a time, for theirs may be thousands and long to read.
  std::string look(base::TimePoint now, const std::function<std::vector<int>()>& list);

 private:
  base::TimePoint start_;
  std::size_t look_count_ = 0;
  std::vector<int> unseen_;  // Of the look that goes on.
};

}  // namespace rota::launcher
