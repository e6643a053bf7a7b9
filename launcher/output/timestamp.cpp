// Writes a time, digit by digit.
#include "launcher/output/timestamp.h"

#include <algorithm>

namespace rota::launcher {
namespace {

// So many digits of `number` that end before `end`.
void write_digits(char* end, int count, unsigned number) {
  for (; count > 0; --count, number /= 10) *--end = static_cast<char>('0' + number % 10);
}

}  // namespace

Timestamp::Timestamp(std::chrono::system_clock::time_point time) noexcept {
  using namespace std::chrono;
  std::ranges::copy(std::string_view("0000-00-00T00:00:00.000Z"), text_.begin());
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const auto of_day = static_cast<unsigned>(duration_cast<milliseconds>(time - day).count());
  char* begin = text_.data();
  write_digits(begin + 4, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  write_digits(begin + 7, 2, static_cast<unsigned>(date.month()));
  write_digits(begin + 10, 2, static_cast<unsigned>(date.day()));
  write_digits(begin + 13, 2, of_day / 3'600'000);
  write_digits(begin + 16, 2, of_day / 60'000 % 60);
  write_digits(begin + 19, 2, of_day / 1000 % 60);
  write_digits(begin + 23, 3, of_day % 1000);
}

}  // namespace rota::launcher
