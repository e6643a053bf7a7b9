// Where a Request asks how its collective is doing.
#pragma once
#include <cstdint>

#include <rota/request.h>

#include "base/time.h"

namespace rota {

class Request::Source {
 public:
  virtual ~Source() = default;
  virtual void wait(std::uint64_t number) = 0;
  virtual bool wait_until(std::uint64_t number, base::TimePoint until) = 0;
  virtual bool test(std::uint64_t number) = 0;
};

}  // namespace rota
