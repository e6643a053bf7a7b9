// Knows the error codes of CUDA that tell what a machine lacks. The codes are part of CUDA's ABI.
#include "device/search.h"

namespace rota::device {
namespace {

constexpr int kInitializationError = 3;
constexpr int kInsufficientDriver = 35;
constexpr int kDevicesUnavailable = 46;
constexpr int kNoDevice = 100;
constexpr int kNoKernelImage = 209;
constexpr int kUnsupportedPtx = 222;

// 12040 is 12.4.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// 90 is 9.0.
std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string with_code(const std::string& text, int error) {
  return text + " (CUDA error " + std::to_string(error) + ")";
}

std::string why_no_driver(const Search& search) {
  if (search.driver == 0) {
    return "this process finds no NVIDIA driver (libcuda.so.1), which GPUs need: install a driver "
           "that knows CUDA " +
           version_text(search.cuda) + ", and start a container with access to GPUs";
  }
  return "the NVIDIA driver knows CUDA up to " + version_text(search.driver) +
         ", but rota was compiled with CUDA " + version_text(search.cuda) +
         ": install a newer driver";
}

std::string why_none_is_seen(const Search& search) {
  if (!search.visible) return "the NVIDIA driver finds no GPU: look at the output of nvidia-smi";
  if (search.visible->empty()) {
    return "CUDA_VISIBLE_DEVICES is empty, so this process sees no GPU: unset it, or name GPUs";
  }
  return "CUDA_VISIBLE_DEVICES=" + *search.visible +
         " names no GPU of this machine: nvidia-smi -L lists the names";
}

}  // namespace

std::string why_none(const Search& search) {
  if (search.error == kInsufficientDriver) return why_no_driver(search);
  if (search.error == kNoDevice || (search.error == 0 && search.count <= 0)) {
    return why_none_is_seen(search);
  }
  if (search.error == 0) return {};
  const std::string what = with_code(search.text, search.error);
  if (search.error == kInitializationError) {
    return "CUDA cannot begin in this process: " + what +
           "; a process that is forked from one that has used CUDA must start a new program";
  }
  if (search.error == kDevicesUnavailable) {
    return "every GPU is taken by another process: " + what +
           "; look at the compute mode in the output of nvidia-smi -q";
  }
  return "CUDA finds no GPU: " + what;
}

std::string why_not_there(std::uint8_t device, int count,
                          const std::optional<std::string>& visible) {
  std::string why = "there is no device " + std::to_string(device) + ": this process sees " +
                    std::to_string(count);
  if (!visible) return why;
  why += ", by CUDA_VISIBLE_DEVICES=" + *visible;
  // CUDA ignores all names of parts but the first.
  if (visible->starts_with("MIG-")) why += ", and CUDA shows a process only one part of a GPU";
  return why;
}

std::string why_no_kernels(std::uint8_t device, const cuda::DeviceFacts& facts, int error,
                           const std::string& text, int driver, int cuda) {
  const std::string subject = "device " + std::to_string(device) + " (" + facts.name +
                              ", compute capability " + capability_text(facts.capability) + ") ";
  if (error == kNoKernelImage) {
    return subject +
           "is older than the GPUs that rota was compiled for: compile rota with this "
           "capability in ROTA_CUDA_ARCHITECTURES";
  }
  if (error == kUnsupportedPtx) {
    return subject +
           "is newer than the GPUs that rota was compiled for, and the driver, which knows "
           "CUDA up to " +
           version_text(driver) + ", cannot compile the kernels of CUDA " + version_text(cuda) +
           " for it: install a newer driver";
  }
  return subject + "cannot run rota's kernels: " + with_code(text, error);
}

}  // namespace rota::device
