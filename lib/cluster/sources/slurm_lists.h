// Expands the short forms in which Slurm writes long lists.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rota::cluster {

// Expands "n[1-3,07-09],m5" to its names in that order, with their leading zeros. `what` is the
// variable. Throws Error kInvalidArgument.
std::vector<std::string> expand_node_list(const std::string& what, std::string_view text);

// Expands "2(x3),1" to 2, 2, 2, 1.
std::vector<std::size_t> expand_counts(const std::string& what, std::string_view text);

}  // namespace rota::cluster
