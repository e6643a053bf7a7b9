// Checks includes against the tables of layers.
#include "style/layers.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace rota::style {
namespace {

// Each name is between two spaces.
constexpr std::string_view kStandardHeaders =
    " "
    "algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat "
    "charconv chrono cinttypes climits clocale cmath compare complex concepts "
    "condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib "
    "cstring ctime cuchar cwchar cwctype deque exception execution filesystem format "
    "forward_list fstream functional future initializer_list iomanip ios iosfwd iostream "
    "istream iterator latch limits list locale map memory memory_resource mutex new numbers "
    "numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set "
    "shared_mutex source_location span sstream stack stdexcept stop_token streambuf string "
    "string_view system_error thread tuple type_traits typeindex typeinfo unordered_map "
    "unordered_set utility valarray variant vector version ";

bool is_standard(const std::string& header) {
  return kStandardHeaders.find(" " + header + " ") != std::string_view::npos;
}

bool is_public(const Include& include) {
  return include.angled && include.path.starts_with("rota/");
}

// Returns the part of `path` before its first slash, or all of it.
std::string first_folder(std::string_view path) {
  return std::string(path.substr(0, path.find('/')));
}

std::string without_first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(slash + 1));
}

std::string at(const Source& source, const Include& include) {
  return source.path + ":" + std::to_string(include.line) + ": includes " + include.path + ": ";
}

bool lists(const Layer& layer, const std::string& header) {
  return layer.headers.contains(header) || layer.headers.contains(first_folder(header));
}

// Returns "tcp" for "transport/tcp/channel.h", and nothing for "transport/channel.h".
std::string subfolder(const std::string& path) {
  const std::string rest = without_first_folder(path);
  return without_first_folder(rest).empty() ? "" : first_folder(rest);
}

// Returns the error of one include in the file `inside` (path from lib/). `layer` is the layer of
// that file.
std::string trouble_with(const Include& include, const std::string& inside, const Layer& layer) {
  const std::string own = first_folder(inside);
  if (is_public(include)) return {};
  if (include.angled) {
    if (is_standard(include.path)) return {};
    return layer.headers.contains("*") || lists(layer, include.path)
               ? ""
               : "the row of " + own + " does not list this system header in braces";
  }
  const std::string folder = first_folder(include.path);
  if (folder == include.path) return "a quoted include must start with a folder of lib/";
  if (folder != own) {
    return layer.folders.contains(folder) ? "" : own + " may not include " + folder;
  }
  const std::string mine = subfolder(inside);
  const std::string theirs = subfolder(include.path);
  const bool are_siblings = !mine.empty() && !theirs.empty() && mine != theirs;
  return are_siblings ? mine + " and " + theirs + " are siblings: neither may include the other"
                      : "";
}

}  // namespace

Layers parse_layers(std::string_view text, const Layers& library) {
  Layers layers;
  for (const std::string_view line : lines_of(text)) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto refuse = [&](const std::string& why) {
      throw std::runtime_error("layers.txt: \"" + std::string(line) + "\": " + why);
    };
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos)
      refuse("a row is a folder, a colon and what it may include");
    const std::string folder(line.substr(0, colon));
    Layer layer;
    std::istringstream words{std::string(line.substr(colon + 1))};
    for (std::string word; words >> word;) {
      if (word.starts_with('{') && word.ends_with('}')) {
        layer.headers.insert(word.substr(1, word.size() - 2));
      } else if (layers.contains(word) ||
                 (word.starts_with("lib/") && library.contains(without_first_folder(word)))) {
        layer.folders.insert(word);
      } else {
        refuse(word + " has no row above this one");
      }
    }
    if (!layers.emplace(folder, layer).second) refuse("the folder has a row already");
  }
  return layers;
}

Findings check_folders(const Layers& layers, const std::set<std::string>& folders,
                       const std::string& root) {
  Findings findings;
  for (const auto& folder : folders) {
    if (!layers.contains(folder)) {
      findings.push_back(root + "/" + folder + ": has no row in layers.txt");
    }
  }
  for (const auto& [folder, layer] : layers) {
    if (!folders.contains(folder)) {
      findings.push_back("layers.txt: " + root + "/" + folder + " does not exist");
    }
  }
  return findings;
}

Findings check_library_includes(const Source& source, const Layers& layers) {
  Findings findings;
  const std::string inside = without_first_folder(source.path);
  const bool is_public_header = inside.starts_with("include/");
  const auto row = layers.find(first_folder(inside));
  for (const auto& include : includes_of(source)) {
    std::string trouble;
    if (is_public_header) {
      const bool fine = is_public(include) || (include.angled && is_standard(include.path));
      if (!fine) trouble = "a public header includes public and standard headers only";
    } else if (row != layers.end()) {
      trouble = trouble_with(include, inside, row->second);
    }
    if (!trouble.empty()) findings.push_back(at(source, include) + trouble);
  }
  return findings;
}

std::string launcher_folder(const std::string& path) {
  const std::string inside = without_first_folder(path);
  const std::size_t slash = inside.rfind('/');
  return slash == std::string::npos ? "." : inside.substr(0, slash);
}

Findings check_launcher_includes(const Source& source, const Layers& layers) {
  Findings findings;
  const std::string own = launcher_folder(source.path);
  const auto row = layers.find(own);
  if (row == layers.end()) return findings;  // check_folders() reports this.
  for (const auto& include : includes_of(source)) {
    const Layer& layer = row->second;
    if (include.angled) {
      const bool is_fine = is_standard(include.path) || lists(layer, include.path) ||
                           (layer.headers.contains("*") && !is_public(include));
      if (!is_fine) {
        findings.push_back(at(source, include) + "the row of " + own +
                           " does not list this header in braces");
      }
      continue;
    }
    const bool is_launchers = include.path.starts_with("launcher/");
    const std::string folder =
        is_launchers ? launcher_folder(include.path) : "lib/" + first_folder(include.path);
    if (folder == own || layer.folders.contains(folder)) continue;
    findings.push_back(at(source, include) + own + " may not include " + folder);
  }
  return findings;
}

Findings check_example_includes(const Source& source) {
  Findings findings;
  for (const auto& include : includes_of(source)) {
    if (!include.angled && include.path.find('/') != std::string::npos) {
      findings.push_back(at(source, include) + "of rota, an example may include only <rota/...>");
    }
  }
  return findings;
}

}  // namespace rota::style
