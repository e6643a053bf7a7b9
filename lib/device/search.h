// Says why a process can use no GPU, in a sentence that names what is missing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <rota/cuda_calls.h>

namespace rota::device {

// What CUDA and the environment say about the devices of this process.
struct Search {
  int error = 0;       // Of the count; 0: none.
  std::string text{};  // Of this error.
  int count = 0;       // Valid only without an error.
  int driver = 0;  // The newest CUDA that the driver knows, such as 12040; 0: there is no driver.
  int cuda = 0;    // The CUDA with which rota's library was compiled, such as 13000.
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES, if it is set.
};

// Returns the sentence, or an empty string if there is a device.
std::string why_none(const Search& search);

// Returns why there is no device with this number in a process that sees `count`. `visible` is as
// above.
std::string why_not_there(std::uint8_t device, int count,
                          const std::optional<std::string>& visible);

// Returns why the device refuses rota's kernels with this error. `driver` and `cuda` are as above.
std::string why_no_kernels(std::uint8_t device, const cuda::DeviceFacts& facts, int error,
                           const std::string& text, int driver, int cuda);

}  // namespace rota::device
