// An InfoList is the list of keys and values with which PMIx is told something: PMIx takes such
// lists as arrays of C structs, and copies them.
#pragma once
#include <pmix_common.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace rota::launcher {

class InfoList {
 public:
  InfoList() = default;
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;

  void add(std::string_view key, std::string value);
  void add(std::string_view key, std::uint32_t value);
  void add(std::string_view key, bool value);
  void add_rank(std::string_view key, pmix_rank_t value);
  void add_number(std::string_view key, std::uint16_t value);
  void add(std::string_view key, InfoList& list);  // The list is complete, and outlives this one.

  pmix_info_t* data() noexcept { return infos_.data(); }
  std::size_t count() const noexcept { return infos_.size(); }

 private:
  pmix_value_t& add_key(std::string_view key, pmix_data_type_t type);

  std::vector<pmix_info_t> infos_;
  // The infos point into these.
  std::deque<std::string> texts_;
  std::deque<pmix_data_array_t> arrays_;
};

}  // namespace rota::launcher
