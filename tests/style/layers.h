// The rules about which folder may include which. lib/layers.txt and launcher/layers.txt are their
// tables.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "style/source.h"

namespace rota::style {

// What one folder may include, beside itself and the standard library.
struct Layer {
  std::set<std::string> folders;
  // Neither ours nor standard: "zlib.h", "Eigen" for all below Eigen/, "*" for any.
  std::set<std::string> headers;
};

using Layers = std::map<std::string, Layer>;

// Reads rows such as "nn: base kernels {Eigen}" or, where `library` has a row for os,
// "job: ranks lib/os". Throws std::runtime_error, naming the row, for one that is malformed,
// doubled, or that lets a folder include one of a later row: rows go upwards.
Layers parse_layers(std::string_view text, const Layers& library = {});

// `folders` are those below `root` that exist: each must have its row, and each row its folder.
Findings check_folders(const Layers& layers, const std::set<std::string>& folders,
                       const std::string& root);

// For a file below lib/, public headers included.
Findings check_library_includes(const Source& source, const Layers& layers);

// For a file below launcher/, whose public headers of rota are listed like others.
Findings check_launcher_includes(const Source& source, const Layers& layers);

// "hosts/meet" for "launcher/hosts/meet/tree.h", "." for "launcher/main.cpp".
std::string launcher_folder(const std::string& path);

// An example is a stranger's program: of rota it sees the public headers alone.
Findings check_example_includes(const Source& source);

}  // namespace rota::style
