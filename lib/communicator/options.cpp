// The one place where the library reads the environment.
#include <rota/options.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include <rota/error.h>

#include "auth/key_file.h"

namespace rota {

CommunicatorOptions CommunicatorOptions::from_environment() {
  CommunicatorOptions options;
  if (const char* text = std::getenv("ROTA_RENDEZVOUS_FD")) {
    int number = -1;
    const char* end = text + std::strlen(text);
    const auto result = std::from_chars(text, end, number);
    if (result.ec != std::errc() || result.ptr != end || number < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "ROTA_RENDEZVOUS_FD is '" + std::string(text) + "', not a descriptor's number");
    }
    options.rendezvous_fd = number;
  }
  return options;
}

std::string shared_key() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  const auto path = auth::find_key_file({.named = value("ROTA_KEY_FILE"), .home = value("HOME")});
  if (!path) return {};
  const auth::SharedKey key = auth::read_key_file(*path);
  return {reinterpret_cast<const char*>(key.bytes().data()), key.bytes().size()};
}

}  // namespace rota
