// Makes, records and asks streams and events by the table of functions.
#include "device/stream.h"

#include <chrono>
#include <thread>

#include <rota/error.h>

#include "base/time.h"
#include "device/begin.h"
#include "device/calls.h"

namespace rota::device {
namespace {

constexpr std::chrono::seconds kLongestWork{30};

}  // namespace

Event::Event(std::uint8_t device) : device_(device) {
  begin_use(device);
  check(calls().make_event(device, handle_), device, "the making of an event");
}

Event::~Event() {
  const cuda::Calls* calls = calls_in_use();
  if (handle_ != 0 && calls) calls->destroy_event(device_, handle_);
}

bool Event::has_happened() const {
  bool happened = false;
  check(ask(happened), device_, "work on a stream");
  return happened;
}

int Event::ask(bool& happened) const { return calls().test(device_, handle_, happened); }

Stream::Stream(std::uint8_t device) : on_{.device = device} {
  begin_use(device);
  check(calls().make_stream(device, on_.stream), device, "the making of a stream");
}

Stream::~Stream() {
  if (const cuda::Calls* calls = calls_in_use()) calls->destroy_stream(on_);
}

int Stream::try_record(const Event& event) const { return calls().record(on_, event.handle()); }

void Stream::record(const Event& event) {
  check(try_record(event), on_.device, "the recording of an event");
}

void Stream::finish(const std::string& what) {
  const Event event(on_.device);
  record(event);
  const auto deadline = base::Clock::now() + kLongestWork;
  while (!event.has_happened()) {
    if (base::Clock::now() > deadline) {
      throw Error(ErrorCode::kTimeout, "device " + std::to_string(on_.device) + " did not " + what +
                                           " within " + base::to_text(kLongestWork) +
                                           ": another program may block it");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

}  // namespace rota::device
