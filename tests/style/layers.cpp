// Holds includes against the table of layers.
#include "style/layers.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace rota::style {
namespace {

// Each between two spaces.
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

// The part of `path` before its first slash, or all of it.
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

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// "tcp" for "transport/tcp/channel.h", empty for "transport/channel.h".
std::string subfolder(const std::string& path) {
  const std::string rest = without_first_folder(path);
  return without_first_folder(rest).empty() ? "" : first_folder(rest);
}

// What is wrong with one include of the file at `inside` (from lib/) that `layer` stands for.
std::string trouble_with(const Include& include, const std::string& inside, const Layer& layer) {
  const std::string own = first_folder(inside);
  if (is_public(include)) return {};
  if (include.angled) {
    if (is_standard(include.path)) return {};
    const bool is_listed = layer.headers.contains("*") || layer.headers.contains(include.path) ||
                           layer.headers.contains(first_folder(include.path));
    return is_listed ? "" : "the row of " + own + " does not list this system header in braces";
  }
  const std::string folder = first_folder(include.path);
  if (folder == include.path) return "a quoted include starts with a folder of lib/";
  if (folder != own) {
    return layer.folders.contains(folder) ? "" : own + " may not include " + folder;
  }
  const std::string mine = subfolder(inside);
  const std::string theirs = subfolder(include.path);
  const bool are_siblings = !mine.empty() && !theirs.empty() && mine != theirs;
  return are_siblings ? mine + " and " + theirs + " are siblings and know nothing of each other"
                      : "";
}

}  // namespace

Layers parse_layers(std::string_view text) {
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
      } else if (layers.contains(word)) {
        layer.folders.insert(word);
      } else {
        refuse(word + " has no row above this one");
      }
    }
    if (!layers.emplace(folder, layer).second) refuse("the folder has a row already");
  }
  return layers;
}

Findings check_folders(const Layers& layers, const std::set<std::string>& folders) {
  Findings findings;
  for (const auto& folder : folders) {
    if (!layers.contains(folder))
      findings.push_back("lib/" + folder + ": has no row in layers.txt");
  }
  for (const auto& [folder, layer] : layers) {
    if (!folders.contains(folder))
      findings.push_back("layers.txt: lib/" + folder + " does not exist");
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

// What it starts as ranks are programs like any other.
Findings check_launcher_includes(const Source& source) {
  Findings findings;
  if (source.path.starts_with("launcher/preflight/")) return findings;
  for (const auto& include : includes_of(source)) {
    if (is_public(include) &&
        !is_one_of(include.path, {"rota/error.h", "rota/nearest_name.h", "rota/rank_table.h"})) {
      findings.push_back(at(source, include) +
                         "the launcher shares error.h, nearest_name.h and rank_table.h only");
    }
    if (include.angled) continue;
    if (!is_one_of(first_folder(include.path),
                   {"launcher", "base", "os", "names", "auth", "rendezvous", "cluster"})) {
      findings.push_back(
          at(source, include) +
          "the launcher stands on base, os, names, auth, rendezvous and cluster only");
    }
  }
  return findings;
}

Findings check_example_includes(const Source& source) {
  Findings findings;
  for (const auto& include : includes_of(source)) {
    if (!include.angled && include.path.find('/') != std::string::npos) {
      findings.push_back(at(source, include) + "of rota an example sees <rota/...> only");
    }
  }
  return findings;
}

}  // namespace rota::style
