// Says in words why a name has no address at the moment.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "os/address.h"

namespace rota::names {

// How to_text() begins if the name may have a record later.
inline constexpr std::string_view kNoRecord = "no record yet";

// Collects the statuses of c-ares for the names that were asked for, one after the other.
class Failure {
 public:
  Failure() = default;
  Failure(std::vector<std::string> names, std::vector<os::Address> servers);

  // Returns whether a server has answered about the name, so that the next name may be asked for.
  static bool is_an_answer(int status) noexcept;

  void add(int status);

  // Returns a text such as "no record yet (NXDOMAIN from 10.96.0.10 for a.b.svc.cluster.local)" or
  // "the name server 10.96.0.10 does not answer".
  std::string to_text() const;

 private:
  std::vector<std::string> names_;
  std::vector<os::Address> servers_;
  std::size_t answered_ = 0;  // How many names were asked for, including those without an answer.
  int worst_ = 0;
};

}  // namespace rota::names
