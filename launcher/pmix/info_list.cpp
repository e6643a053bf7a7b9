// Fills the structs of a list of keys and values by hand: the macros that do so are not the same in
// all versions of PMIx, but the structs are.
#include "launcher/pmix/info_list.h"

#include <algorithm>
#include <utility>

namespace rota::launcher {

pmix_value_t& InfoList::add_key(std::string_view key, pmix_data_type_t type) {
  pmix_info_t& info = infos_.emplace_back();
  std::ranges::copy(key.substr(0, PMIX_MAX_KEYLEN), info.key);
  info.value.type = type;
  return info.value;
}

void InfoList::add(std::string_view key, std::string value) {
  texts_.push_back(std::move(value));
  add_key(key, PMIX_STRING).data.string = texts_.back().data();
}

void InfoList::add(std::string_view key, std::uint32_t value) {
  add_key(key, PMIX_UINT32).data.uint32 = value;
}

void InfoList::add_number(std::string_view key, std::uint16_t value) {
  add_key(key, PMIX_UINT16).data.uint16 = value;
}

void InfoList::add(std::string_view key, bool value) { add_key(key, PMIX_BOOL).data.flag = value; }

void InfoList::add(std::string_view key, InfoList& list) {
  arrays_.push_back({.type = PMIX_INFO, .size = list.count(), .array = list.data()});
  add_key(key, PMIX_DATA_ARRAY).data.darray = &arrays_.back();
}

void InfoList::add_rank(std::string_view key, pmix_rank_t value) {
  add_key(key, PMIX_PROC_RANK).data.rank = value;
}

}  // namespace rota::launcher
