// A request asks its source.
#include <rota/request.h>

#include <utility>

#include "communicator/request_source.h"

namespace rota {

Request::Request(std::shared_ptr<Source> source, std::uint64_t sequence) noexcept
    : source_(std::move(source)), sequence_(sequence) {}

void Request::wait() {
  if (source_) source_->wait(sequence_);
}

bool Request::test() { return !source_ || source_->test(sequence_); }

}  // namespace rota
