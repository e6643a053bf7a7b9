// The interface by which a Request asks its communicator about its collective.
#pragma once
#include <cstdint>

#include <rota/cuda_calls.h>
#include <rota/request.h>

#include "base/time.h"

namespace rota {

class Request::Source {
 public:
  virtual ~Source() = default;
  virtual void wait(std::uint64_t number) = 0;
  virtual bool wait_until(std::uint64_t number, base::TimePoint until) = 0;
  virtual bool test(std::uint64_t number) = 0;
  virtual void wait_on(std::uint64_t number, const cuda::On& on) = 0;
};

}  // namespace rota
