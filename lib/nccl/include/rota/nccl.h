// Lets a program say which NCCL the plan `nccl` uses. Link the target rota::nccl, which has this
// header and rota's library for NCCL. A program that only chooses the plan needs neither: rota
// opens the library when the plan is used.
#pragma once
#include <string>

#include <rota/error.h>
#include <rota/export.h>
#include <rota/nccl_calls.h>

extern "C" ROTA_EXPORT const rota::nccl::Calls* rota_calls_of_nccl(const char* path,
                                                                   const char** why) noexcept;

namespace rota::nccl {

// Opens NCCL, and makes rota use it for the plan `nccl`. `path` is the file of NCCL, such as
// "/usr/lib/libnccl.so.2". If it is empty, rota looks for NCCL as it does for a program that does
// not make this call. Call it before you make a Communicator. NCCL is never closed.
//
// Throws Error kSystem if NCCL cannot be opened or has another major version: the text says which.
// Throws Error kInvalidArgument if the library is not of this release of rota.
inline void use_library(const std::string& path = {}) {
  const char* why = "";
  const Calls* calls = rota_calls_of_nccl(path.empty() ? nullptr : path.c_str(), &why);
  if (!calls) throw Error(ErrorCode::kSystem, why);
  use(*calls);
}

}  // namespace rota::nccl
