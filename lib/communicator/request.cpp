// The methods of Request: each asks the request's communicator.
#include <rota/request.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "communicator/request_source.h"

namespace rota {

Request::Request(std::shared_ptr<Source> source, std::uint64_t sequence) noexcept
    : source_(std::move(source)), sequence_(sequence) {}

void Request::wait() {
  if (source_) source_->wait(sequence_);
}

bool Request::wait_for(std::chrono::nanoseconds timeout) {
  const auto until =
      base::Clock::now() + std::clamp(timeout, std::chrono::nanoseconds(0), base::kForever);
  return !source_ || source_->wait_until(sequence_, until);
}

bool Request::test() { return !source_ || source_->test(sequence_); }

void Request::wait_on(const void* stream, std::uint8_t device) {
  if (!source_) return;
  source_->wait_on(sequence_, {.device = device, .stream = to_stream_number(stream)});
}

void wait_all(std::span<Request> requests) {
  std::exception_ptr first;
  for (Request& request : requests) {
    try {
      request.wait();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace rota
