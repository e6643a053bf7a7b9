// How Slurm writes long lists in few letters.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rota::cluster {

// "n[1-3,07-09],m5": the names, in that order, with the zeros that they begin with.
// `what` is the variable. Throws Error kInvalidArgument.
std::vector<std::string> expand_node_list(const std::string& what, std::string_view text);

// "2(x3),1": 2, 2, 2, 1.
std::vector<std::size_t> expand_counts(const std::string& what, std::string_view text);

}  // namespace rota::cluster
