// The part of the PMIx standard's binary interface that a rank uses. rota opens libpmix at run
// time, so it is compiled without PMIx's headers. A test compares these types with them.
//
// The library has kept its soname, and these types and calls, from version 3 to version 6.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rota::stores::pmix {

using Status = int;
using Rank = std::uint32_t;
using Scope = std::uint8_t;

inline constexpr Status kSuccess = 0;                         // PMIX_SUCCESS
inline constexpr Status kAlreadyDone = -157;                  // PMIX_OPERATION_SUCCEEDED
inline constexpr Rank kAnyRank = 0xffff'fffe;                 // PMIX_RANK_WILDCARD
inline constexpr Scope kGlobal = 3;                           // PMIX_GLOBAL
inline constexpr std::uint16_t kBool = 1;                     // PMIX_BOOL
inline constexpr std::uint16_t kString = 3;                   // PMIX_STRING
inline constexpr std::uint16_t kUint32 = 14;                  // PMIX_UINT32
inline constexpr const char* kJobSize = "pmix.job.size";      // PMIX_JOB_SIZE
inline constexpr const char* kLocalSize = "pmix.local.size";  // PMIX_LOCAL_SIZE
inline constexpr const char* kCollectData = "pmix.collect";   // PMIX_COLLECT_DATA

inline constexpr std::size_t kNameBytes = 256;  // PMIX_MAX_NSLEN + 1
inline constexpr std::size_t kKeyBytes = 512;   // PMIX_MAX_KEYLEN + 1

struct Proc {  // pmix_proc_t
  char name[kNameBytes];
  Rank rank;
};

// The union has further members in pmix_value_t. The largest has two pointers and a character.
struct Value {  // pmix_value_t
  std::uint16_t type;
  union {
    bool flag;
    char* string;
    std::uint32_t number;
    struct {
      char* name;
      char* value;
      char separator;
    } largest;
  } data;
};

struct Info {  // pmix_info_t
  char key[kKeyBytes];
  std::uint32_t flags;
  Value value;
};

using OnDone = void(Status status, void* data);                 // pmix_op_cbfunc_t
using OnValue = void(Status status, Value* value, void* data);  // pmix_value_cbfunc_t

struct Calls {
  Status (*init)(Proc*, Info*, std::size_t) = nullptr;
  Status (*finalize)(const Info*, std::size_t) = nullptr;
  Status (*put)(Scope, const char*, Value*) = nullptr;
  Status (*commit)() = nullptr;
  Status (*fence)(const Proc*, std::size_t, const Info*, std::size_t, OnDone*, void*) = nullptr;
  Status (*get)(const Proc*, const char*, const Info*, std::size_t, OnValue*, void*) = nullptr;
  const char* (*error_text)(Status) = nullptr;
};

}  // namespace rota::stores::pmix
