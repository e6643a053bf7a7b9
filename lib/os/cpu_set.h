// Owns a CPU set of any size, in the form that the kernel expects.
#pragma once
#include <sched.h>

#include <memory>

namespace rota::os {

struct CpuSetDeleter {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

using CpuSet = std::unique_ptr<cpu_set_t, CpuSetDeleter>;

}  // namespace rota::os
