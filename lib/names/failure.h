// Why a name stands for nothing, now, in words.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "os/address.h"

namespace rota::names {

// How it begins where the name may have a record later.
inline constexpr std::string_view kNoRecord = "no record yet";

// What was said to the names that were asked for, in turn, of c-ares' statuses.
class Failure {
 public:
  Failure() = default;
  Failure(std::vector<std::string> names, std::vector<os::Address> servers);

  // Whether a server has said something about the name, so that the next one may be asked for.
  static bool is_an_answer(int status) noexcept;

  void add(int status);

  // "no record yet (NXDOMAIN from 10.96.0.10 for a.b.svc.cluster.local)", "the name server
  // 10.96.0.10 does not answer".
  std::string to_text() const;

 private:
  std::vector<std::string> names_;
  std::vector<os::Address> servers_;
  std::size_t answered_ = 0;  // So many of the names.
  int worst_ = 0;
};

}  // namespace rota::names
