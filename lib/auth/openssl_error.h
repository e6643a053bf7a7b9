// OpenSSL's errors as ours.
#pragma once
#include <string>

namespace rota::auth {

// Throws Error kSystem: "`what`: unsupported".
[[noreturn]] void throw_openssl_error(const std::string& what);

}  // namespace rota::auth
