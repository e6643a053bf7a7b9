// Fuzzes the start request that a rotarun reads from standard input when another rotarun starts it.
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "launcher/hosts/agents/start_request.h"
#include "os/pipe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  using namespace rota;
  constexpr std::size_t kMostBytes = 60 * 1024;  // A pipe holds no more.
  if (count > kMostBytes) return 0;
  auto [read_end, write_end] = os::make_pipe();
  fuzz::require(::write(write_end.get(), data, count) == static_cast<ssize_t>(count), "it is sent");
  write_end.reset();
  try {
    const launcher::StartRequest request = launcher::read_start_request(read_end.get());
    const std::string common = launcher::encode_common(request);
    const std::string again = launcher::encode_own(request, common.size()) + common;
    fuzz::require(fuzz::text_of(data, count).starts_with(again), "there is one way to say it");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::kBadData, "a refusal says that the data is bad");
  }
  return 0;
}
