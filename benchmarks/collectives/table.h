// Lines of measurements as people read them, in the manner of nccl-tests.
#pragma once
#include <string>

#include "collectives/method.h"

namespace rota::bench {

// Comments, and the names of the columns. Ends in a newline, as do lines.
std::string table_head(const std::string& name, std::size_t ranks);

// Requires a line that has one of its two rows.
std::string table_line(const Line& line);

}  // namespace rota::bench
