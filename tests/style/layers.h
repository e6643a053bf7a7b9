// The rules about who may include whom. lib/layers.txt is their table.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "style/source.h"

namespace rota::style {

// What one folder of lib/ may include, beside itself, the public headers and the standard library.
struct Layer {
  std::set<std::string> folders;
  // Neither ours nor standard: "zlib.h", "Eigen" for all below Eigen/, "*" for any.
  std::set<std::string> headers;
};

using Layers = std::map<std::string, Layer>;

// Reads rows such as "nn: base kernels {Eigen}". Throws std::runtime_error, naming the row, for one
// that is malformed, doubled, or that lets a folder include one of a later row: rows go upwards.
Layers parse_layers(std::string_view text);

// `folders` are those of lib/ that exist: each must have its row, and each row its folder.
Findings check_folders(const Layers& layers, const std::set<std::string>& folders);

// For a file below lib/, public headers included.
Findings check_library_includes(const Source& source, const Layers& layers);

// The launcher stands on base, os, auth, rendezvous and the words that it shares with them.
Findings check_launcher_includes(const Source& source);

// An example is a stranger's program: of rota it sees the public headers alone.
Findings check_example_includes(const Source& source);

}  // namespace rota::style
