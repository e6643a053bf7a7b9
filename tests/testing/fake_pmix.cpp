// Has the functions of libpmix that rota calls. They answer within the call, where the real library
// answers from a thread of its own.
#include "testing/fake_pmix.h"

#include <cstddef>
#include <utility>

#include "stores/pmix_calls.h"

namespace rota::testing {
namespace {

namespace pmix = stores::pmix;

constexpr pmix::Status kNotFound = -46;  // PMIX_ERR_NOT_FOUND

// The callback of a fence that has not ended.
std::pair<pmix::OnDone*, void*> late_fence{nullptr, nullptr};

// Passes the library's own value to the callback, which must not keep it.
void answer_with(std::variant<std::uint32_t, std::string>& known, pmix::OnValue* on_value,
                 void* data) {
  pmix::Value value{};
  if (auto* const text = std::get_if<std::string>(&known)) {
    value.type = pmix::kString;
    value.data.string = text->data();
  } else {
    value.type = pmix::kUint32;
    value.data.number = std::get<std::uint32_t>(known);
  }
  on_value(pmix::kSuccess, &value, data);
}

}  // namespace

FakePmix& fake_pmix() noexcept {
  static FakePmix fake;
  return fake;
}

void end_late_fence() {
  const auto [on_done, data] = std::exchange(late_fence, {nullptr, nullptr});
  if (on_done) on_done(pmix::kSuccess, data);
}

// NOLINTBEGIN(readability-identifier-naming): the library's names.
extern "C" {

pmix::Status PMIx_Init(pmix::Proc* own, pmix::Info*, std::size_t) {
  *own = {};
  own->rank = fake_pmix().rank;
  ++fake_pmix().connections;
  return pmix::kSuccess;
}

pmix::Status PMIx_Finalize(const pmix::Info*, std::size_t) {
  --fake_pmix().connections;
  return pmix::kSuccess;
}

pmix::Status PMIx_Put(pmix::Scope, const char* key, pmix::Value* value) {
  if (value->type == pmix::kString) fake_pmix().values[key] = std::string(value->data.string);
  return pmix::kSuccess;
}

pmix::Status PMIx_Commit() { return pmix::kSuccess; }

pmix::Status PMIx_Fence_nb(const pmix::Proc*, std::size_t, const pmix::Info*, std::size_t,
                           pmix::OnDone* on_done, void* data) {
  if (fake_pmix().ends_fences) {
    on_done(pmix::kSuccess, data);
  } else {
    late_fence = {on_done, data};
  }
  return pmix::kSuccess;
}

pmix::Status PMIx_Get_nb(const pmix::Proc*, const char* key, const pmix::Info*, std::size_t,
                         pmix::OnValue* on_value, void* data) {
  const auto found = fake_pmix().values.find(key);
  if (found == fake_pmix().values.end()) {
    on_value(kNotFound, nullptr, data);
  } else {
    answer_with(found->second, on_value, data);
  }
  return pmix::kSuccess;
}

const char* PMIx_Error_string(pmix::Status status) {
  return status == kNotFound ? "NOT-FOUND" : "another error";
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

}  // namespace rota::testing
