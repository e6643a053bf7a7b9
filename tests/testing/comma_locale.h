// Lets numbers of the process look as in Germany: 1.234,5. The system need not have such a locale:
// this writes one, in the format of the GNU C library.
#pragma once
#include <stdlib.h>

#include <clocale>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <locale>
#include <string_view>
#include <vector>

#include "training/temporary_folder.h"

namespace rota::testing {

// From the construction to the destruction, the locales of C and of C++ write commas. No other
// thread may run at these two moments.
class CommaLocale {
 public:
  CommaLocale() {
    std::filesystem::create_directory(folder_.path() / "comma");
    folder_.write("comma/LC_NUMERIC", numeric_file());
    std::locale::global(std::locale(std::locale::classic(), new Punctuation));
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    std::setlocale(LC_NUMERIC, "comma");
  }
  ~CommaLocale() {
    ::unsetenv("LOCPATH");
    std::locale::global(std::locale::classic());
    std::setlocale(LC_NUMERIC, "C");
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  // Returns whether printf writes a comma. Otherwise a test would show nothing.
  static bool is_in_use() {
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 0.5);
    return std::string_view(text) == "0,5";
  }

 private:
  struct Punctuation : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };

  // Returns a file of the category LC_NUMERIC: a mark, the number of items, the position of each
  // item, and the items. The items are the point, the separator of thousands, the sizes of groups,
  // the first two again as wide characters, and the character set.
  static std::vector<std::uint8_t> numeric_file() {
    constexpr std::uint32_t kWords[] = {0x2003'1114, 6, 32, 34, 35, 36, 40, 44};
    constexpr std::uint32_t kWide[] = {',', 0};
    std::vector<std::uint8_t> bytes;
    const auto add = [&](const void* from, std::size_t count) {
      const auto* first = static_cast<const std::uint8_t*>(from);
      bytes.insert(bytes.end(), first, first + count);
    };
    add(kWords, sizeof kWords);
    // A comma and two empty items. Each has a zero at its end.
    add(",\0\0", 4);  // NOLINT(bugprone-string-literal-with-embedded-nul)
    add(kWide, sizeof kWide);
    add("UTF-8", 6);
    return bytes;
  }

  TemporaryFolder folder_;
};

}  // namespace rota::testing
