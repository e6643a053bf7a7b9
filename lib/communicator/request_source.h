// Where a Request asks how its collective is doing.
#pragma once
#include <cstdint>

#include <rota/request.h>

namespace rota {

class Request::Source {
 public:
  virtual ~Source() = default;
  virtual void wait(std::uint64_t number) = 0;
  virtual bool test(std::uint64_t number) = 0;
};

}  // namespace rota
