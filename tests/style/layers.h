// Has the rules about which folder may include which. The tables are lib/layers.txt and
// launcher/layers.txt.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "style/source.h"

namespace rota::style {

// What one folder may include, besides itself and the standard library.
struct Layer {
  std::set<std::string> folders;
  // Headers of other libraries: "zlib.h", "Eigen" for all headers below Eigen/, "*" for any header.
  std::set<std::string> headers;
};

using Layers = std::map<std::string, Layer>;

// Reads rows such as "nn: base kernels {Eigen}" or, if `library` has a row for os, "job: ranks
// lib/os". Throws std::runtime_error with the row if it is malformed or doubled, or if it lets a
// folder include a folder of a later row: rows go upwards.
Layers parse_layers(std::string_view text, const Layers& library = {});

// Checks that each folder has its row, and that each row has its folder. `folders` are the existing
// folders below `root`.
Findings check_folders(const Layers& layers, const std::set<std::string>& folders,
                       const std::string& root);

// Checks a file below lib/, including public headers.
Findings check_library_includes(const Source& source, const Layers& layers);

// Checks a file below launcher/. Here public headers of rota are listed like other headers.
Findings check_launcher_includes(const Source& source, const Layers& layers);

// Returns "hosts/rendezvous" for "launcher/hosts/rendezvous/host_tree.h", and "." for
// "launcher/main.cpp".
std::string launcher_folder(const std::string& path);

// Checks an example. It is a stranger's program, so it may include only rota's public headers.
Findings check_example_includes(const Source& source);

}  // namespace rota::style
