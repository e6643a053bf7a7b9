// OpenSSL's errors as ours.
#include "auth/openssl_error.h"

#include <openssl/err.h>

#include <rota/error.h>

namespace rota::auth {

void throw_openssl_error(const std::string& what) {
  const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  ::ERR_clear_error();
  throw Error(ErrorCode::kSystem, what + ": OpenSSL: " + (reason != nullptr ? reason : "failed"));
}

}  // namespace rota::auth
