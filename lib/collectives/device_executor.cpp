// Turns the verbs of local steps into calls of the table of functions for devices.
#include "collectives/device_executor.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "base/time.h"
#include "device/arrivals.h"
#include "device/calls.h"

namespace rota::collectives {
namespace {

// How long a failed operation waits for the device. Its steps take milliseconds.
constexpr std::chrono::seconds kLongestSettling{1};

int begin_encoding(const cuda::Calls& calls, const cuda::On& on, const LocalStep& local) {
  const Coder& coder = *local.planned().coder;
  const std::size_t count = local.step.from.slice.count;
  const kernels::Dither dither = coder.dither(local.step.from.slice.offset, local.draw());
  const int error = calls.encode(on, local.to.data(), local.from.data(), count, coder.codec(),
                                 dither.key, dither.first);
  if (error != 0 || !local.feedback()) return error;
  return calls.lose(on, local.feedback(), local.from.data(), local.to.data(), count, coder.codec(),
                    coder.factor_of_loss(local.step.last));
}

int begin_on(const cuda::Calls& calls, const cuda::On& on, const LocalStep& local) {
  const Description& call = local.planned().call;
  const Reducer& reducer = local.planned().reducer;
  const Step& step = local.step;
  const std::size_t count = step.at.slice.count;
  std::byte* to = local.to.data();
  const std::byte* from = local.from.data();
  switch (step.verb) {
    case Verb::kCopy:
      return calls.copy(on, to, from, local.to.size());
    case Verb::kAdd:
      return calls.combine(on, to, from, count, call.type,
                           op_of_addition(call.reduction.op(), step.last), reducer.mean_factor());
    case Verb::kPreScale:
      return calls.scale(on, to, count, call.type, reducer.pre_factor());
    case Verb::kEncode:
      return begin_encoding(calls, on, local);
    case Verb::kDecode:
      return calls.decode(on, to, from, count, local.planned().coder->codec());
    case Verb::kDecodeAdd:
      return calls.decode_add(on, to, from, count, local.planned().coder->codec(),
                              local.planned().coder->factor_of_addition(step.last));
    case Verb::kSend:
    case Verb::kReceive:
    case Verb::kReduce:
      break;
  }
  ROTA_ASSERT(false);
}

}  // namespace

DeviceExecutor::~DeviceExecutor() {
  if (is_idle()) return;
  for (auto& device : devices_) static_cast<void>(device.release());
}

void DeviceExecutor::start(const Operation& operation, std::size_t lane_count) {
  operation_ = &operation;
  const std::uint8_t number = operation.planned->call.memory.device();
  if (devices_.size() <= number) devices_.resize(number + std::size_t{1});
  auto& device = devices_[number];
  if (!device) device = std::make_unique<OfDevice>(number);
  device_ = device.get();
  while (device_->done.size() < lane_count) device_->done.emplace_back(number);
  if (!operation.arrivals) return;
  hold(*operation.arrivals, device_->fills, device_->fills_held);
  hold(*operation.arrivals, device_->works, device_->works_held);
}

// All steps of the operation are behind the wait on their stream, so no step needs to ask.
void DeviceExecutor::hold(const device::Arrivals& arrivals, device::Stream& stream,
                          const device::Event& held) {
  begins_ = true;
  arrivals.hold(stream);
  check(stream.try_record(held));
  begins_ = false;
}

void DeviceExecutor::begin(std::size_t lane, const LocalStep& local) {
  device::Stream& stream =
      local.step.at.buffer == Buffer::kStaging ? device_->fills : device_->works;
  begins_ = true;
  check(begin_on(device::calls(), stream.on(), local));
  check(stream.try_record(device_->done[lane]));
  begins_ = false;
}

bool DeviceExecutor::is_done(std::size_t lane) const { return has_happened(device_->done[lane]); }

bool DeviceExecutor::has_come() const {
  if (!operation_->arrivals) return true;
  return has_happened(device_->fills_held) && has_happened(device_->works_held);
}

bool DeviceExecutor::has_happened(const device::Event& event) const {
  bool happened = false;
  check(event.ask(happened));
  return happened;
}

// The Error names the operation: a device that has faulted fails in each.
void DeviceExecutor::check(int error) const {
  if (error == 0) return;
  device::check(error, device_->works.on().device, to_text(operation_->signature()));
}

bool DeviceExecutor::is_idle() const noexcept {
  if (!device_) return true;
  if (begins_) return false;  // No event tells when the step ends.
  const auto deadline = base::Clock::now() + kLongestSettling;
  try {
    const auto settles = [&](const device::Event& event) {
      while (!event.has_happened()) {
        if (base::Clock::now() > deadline) return false;
        std::this_thread::yield();
      }
      return true;
    };
    return settles(device_->fills_held) && settles(device_->works_held) &&
           std::ranges::all_of(device_->done, settles);
  } catch (const std::exception&) {
    return false;  // A device that has faulted does not tell what it still does.
  }
}

}  // namespace rota::collectives
