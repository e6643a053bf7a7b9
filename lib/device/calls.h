// Finds the table of functions for devices, and turns their error codes into Errors.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <rota/cuda_calls.h>

namespace rota::device {

inline constexpr int kNoRoom = 2;          // cudaErrorMemoryAllocation
inline constexpr int kNotSupported = 801;  // cudaErrorNotSupported

// Returns the table that rota uses, or null. Null also in a process that was forked after its
// parent had begun to use devices: CUDA does not work there. Any thread may call it.
const cuda::Calls* calls_in_use() noexcept;

// Returns the table that rota uses, for a call of one of its functions. Throws Error
// kInvalidArgument if there is none, and in a process that was forked too late.
const cuda::Calls& calls();

// Throws Error kInvalidArgument if the table has another version than this rota.
void require_version(const cuda::Calls& calls);

// Returns CUDA's own text of an error code.
std::string text_of(const cuda::Calls& calls, int error);

// Returns "an illegal memory access was encountered (CUDA error 700)".
std::string text_of(int error);

// Throws Error kSystem for an error code other than 0. `what` is the subject of the sentence: "the
// copy of a segment". After a fault every call fails, so the sentence also says which one saw the
// fault first.
void check(int error, std::uint8_t device, std::string_view what);
void check(int error, std::string_view what);  // For what no single device does.

// Throws Error kInvalidArgument if a call with a stream of the program has failed, and kSystem if
// the device has faulted. `what` is the subject of the sentence: "the output's stream".
void check_stream(int error, std::uint8_t device, std::string_view what);

}  // namespace rota::device
