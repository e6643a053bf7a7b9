// Recognizes MPI programs. If rotarun does not tell MPI_Init about the other ranks, such a program
// is refused, or rotarun warns of it: each rank would be an MPI world of one, train alone, and end
// with 0.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "launcher/mpi/mpi_plan.h"

namespace rota::launcher {

// Returns whether `name` is the name of an MPI library: "libmpi.so.40", "libmpich.so.12".
bool is_mpi_library(std::string_view name);

// Returns how an MPI library asks about the other ranks; empty if its name does not tell.
std::optional<MpiKind> kind_of_library(std::string_view name);

// Returns whether it is a library of the standard's own ABI, behind which there may be any MPI.
bool is_of_standard_abi(std::string_view name);

// Returns the MPI library that the program needs, directly or through another library; empty if
// there is none. The other library must be in a folder that the program names, or in one of
// LD_LIBRARY_PATH. Libraries that a script or a plug-in loads are not found.
std::string mpi_library_of(const std::string& program_path, const std::string& library_path);

// Returns the complaint if an MPI program is to start as one of several ranks, and rotarun cannot
// serve its MPI.
std::string mpi_complaint(const std::string& program, const std::string& library);

// Checks several times which libraries the processes of a job have mapped: some libraries can be
// seen only at run time.
class MpiWatch {
 public:
  explicit MpiWatch(base::TimePoint start) : start_(start) {}

  // Returns when look() must be called next. While a check goes on, this is a time long past: call
  // look() immediately. Returns nothing after the last check.
  std::optional<base::TimePoint> next_look() const;

  // Returns a warning once, otherwise an empty string. `list` returns the processes, and is called
  // when a check begins. Each call of look() reads only some of the processes: there may be
  // thousands, and their lists of libraries are long.
  std::string look(base::TimePoint now, const std::function<std::vector<int>()>& list);

 private:
  base::TimePoint start_;
  std::size_t look_count_ = 0;
  std::vector<int> unseen_;  // Processes not read yet in this check.
};

}  // namespace rota::launcher
