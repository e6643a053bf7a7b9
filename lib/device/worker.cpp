// Makes streams when they are needed first, and asks an event for the end of work.
#include "device/worker.h"

#include <chrono>
#include <exception>
#include <thread>

#include "base/time.h"

namespace rota::device {
namespace {

// How long a failed operation waits for the device. Its work takes milliseconds.
constexpr std::chrono::seconds kLongestEnd{1};

}  // namespace

Worker::~Worker() {
  if (!is_idle()) abandon();
}

void Worker::use(std::uint8_t device) {
  if (devices_.size() <= device) devices_.resize(device + std::size_t{1});
  if (!devices_[device]) devices_[device] = std::make_unique<OfDevice>(device);
  current_ = devices_[device].get();
}

bool Worker::is_idle() const noexcept {
  if (!current_) return true;
  if (begins_) return false;  // No event tells when the work ends.
  const auto deadline = base::Clock::now() + kLongestEnd;
  try {
    while (!current_->ended.has_happened()) {
      if (base::Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
  } catch (const std::exception&) {
    return false;  // A device that has faulted does not tell what it still does.
  }
  return true;
}

void Worker::abandon() noexcept {
  for (auto& each : devices_) static_cast<void>(each.release());
  current_ = nullptr;
}

}  // namespace rota::device
