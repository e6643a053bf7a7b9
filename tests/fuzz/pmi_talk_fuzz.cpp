// Fuzzes what a rank makes of the lines of a PMI-1 server. The first byte says whether the rank is
// rank 0, and how many bytes arrive at a time.
#include <algorithm>
#include <optional>
#include <string>

#include "fuzz/fuzz.h"
#include "stores/pmi_talk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  if (count == 0) return 0;
  std::string_view text = fuzz::text_of(data, count).substr(1);
  const std::size_t step = 1 + data[0] / 2;
  const bool is_first = data[0] % 2 == 1;
  stores::PmiTalk talk(is_first ? std::optional<std::string>("word") : std::nullopt);
  std::size_t lines = 0;
  try {
    while (!text.empty()) {
      talk.receive(text.substr(0, step));
      text.remove_prefix(std::min(step, text.size()));
      const std::string out = talk.take_output();
      lines += static_cast<std::size_t>(std::ranges::count(out, '\n'));
      fuzz::require(out.empty() || out.back() == '\n', "questions are whole lines");
    }
  } catch (const Error& error) {
    for (const char c : std::string_view(error.what())) {
      fuzz::require(c != '\n' && c != '\0', "an error is one line");
    }
  }
  fuzz::require(lines <= 7, "there are at most seven questions");
  fuzz::require(!talk.is_done() || !is_first || talk.word() == "word", "rank 0 has its own word");
  return 0;
}
