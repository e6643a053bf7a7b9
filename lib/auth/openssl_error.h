// Turns OpenSSL's errors into Error.
#pragma once
#include <openssl/err.h>

#include <string>

#include <rota/error.h>

namespace rota::auth {

// Throws Error kSystem: "`what`: OpenSSL: unsupported".
[[noreturn]] inline void throw_openssl_error(const std::string& what) {
  const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  ::ERR_clear_error();
  throw Error(ErrorCode::kSystem, what + ": OpenSSL: " + (reason != nullptr ? reason : "failed"));
}

}  // namespace rota::auth
