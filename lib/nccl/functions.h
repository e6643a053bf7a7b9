// Declares what rota calls of NCCL, as NCCL 2's nccl.h does. So rota is built without that header.
// A test compares both where there is one.
#pragma once
#include <climits>
#include <cstddef>

namespace rota::nccl {

// The first NCCL with all that rota needs: 2.14.3.
inline constexpr int kOldest = 21403;

// The types and values of nccl.h, with its names.
struct ncclComm;               // NOLINT: NCCL's name.
using ncclComm_t = ncclComm*;  // NOLINT
struct ncclUniqueId {          // NOLINT
  char internal[128];
};
using ncclResult_t = int;    // NOLINT: an enum there.
using ncclDataType_t = int;  // NOLINT
using ncclRedOp_t = int;     // NOLINT
using cudaStream_t = void*;  // NOLINT: another pointer there.

enum : int {
  kInt8 = 0,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16
};
enum : int { kSum = 0, kProduct, kMax, kMin };

// The beginning of ncclConfig_t. NCCL takes what is missing from its defaults: `version` says how
// much there is.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = INT_MIN;  // Not set.
};

// The functions that every NCCL from kOldest on has.
#define ROTA_NCCL_FUNCTIONS(FUNCTION)                                                           \
  FUNCTION(ncclGetUniqueId, (ncclUniqueId*))                                                    \
  FUNCTION(ncclCommInitRankConfig, (ncclComm_t*, int, ncclUniqueId, int, Config*))              \
  FUNCTION(ncclCommGetAsyncError, (ncclComm_t, ncclResult_t*))                                  \
  FUNCTION(ncclCommFinalize, (ncclComm_t))                                                      \
  FUNCTION(ncclCommDestroy, (ncclComm_t))                                                       \
  FUNCTION(ncclCommAbort, (ncclComm_t))                                                         \
  FUNCTION(ncclAllReduce, (const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t,        \
                           ncclComm_t, cudaStream_t))                                           \
  FUNCTION(ncclReduce, (const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, int,      \
                        ncclComm_t, cudaStream_t))                                              \
  FUNCTION(ncclReduceScatter, (const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t,    \
                               ncclComm_t, cudaStream_t))                                       \
  FUNCTION(ncclAllGather,                                                                       \
           (const void*, void*, std::size_t, ncclDataType_t, ncclComm_t, cudaStream_t))         \
  FUNCTION(ncclBroadcast,                                                                       \
           (const void*, void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))    \
  FUNCTION(ncclSend, (const void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t)) \
  FUNCTION(ncclRecv, (void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))       \
  FUNCTION(ncclGroupStart, ())                                                                  \
  FUNCTION(ncclGroupEnd, ())

// What rota looks for, and works without.
#define ROTA_NEWER_NCCL_FUNCTIONS(FUNCTION)                            \
  FUNCTION(ncclCommRevoke, (ncclComm_t, int))                          \
  FUNCTION(ncclCommRegister, (ncclComm_t, void*, std::size_t, void**)) \
  FUNCTION(ncclCommDeregister, (ncclComm_t, void*))

}  // namespace rota::nccl
