// What a rotarun that was started by another one reads from its standard input.
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "launcher/hosts/agents/orders.h"
#include "os/pipe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  constexpr std::size_t kMostBytes = 60 * 1024;  // A pipe would not hold more.
  if (count > kMostBytes) return 0;
  auto [read_end, write_end] = os::make_pipe();
  fuzz::require(::write(write_end.get(), data, count) == static_cast<ssize_t>(count), "it is sent");
  write_end.reset();
  try {
    const launcher::Orders orders = launcher::read_orders(read_end.get());
    const std::string common = launcher::encode_common(orders);
    const std::string again = launcher::encode_own(orders, common.size()) + common;
    fuzz::require(fuzz::text_of(data, count).starts_with(again), "there is one way to say it");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::kBadData, "a refusal says that the data is bad");
  }
  return 0;
}
