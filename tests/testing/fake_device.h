// Devices in the memory of a test: the table of functions that rota calls, without CUDA. The memory
// of a device is mapped twice: at the caller's address without access, so that the host faults if
// it touches it, and elsewhere for the device. Work on streams is done late, piece by piece, in a
// random order that the rules of streams and events allow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rota/cuda_calls.h>
#include <rota/device_span.h>

namespace rota::testing {

enum class FakeCall : std::uint8_t {
  kAllocate,
  kAllocatePinned,
  kMakeStream,
  kMakeEvent,
  kRecord,
  kTest,
  kCopy,
  kKernel,
  kWait,
  kPin,
  kShare,
  kOpen,
  kBeginCapture,
  kEndCapture,
  kLaunchGraph,
};
inline constexpr std::size_t kFakeCalls = 15;

struct FakeDeviceOptions {
  int device_count = 2;
  std::uint64_t seed = 1;
  bool has_thread = true;                             // A thread works streams off.
  std::size_t room = std::size_t{1} << 30;            // Bytes of each device.
  bool reuses_addresses = false;                      // Of memory that was given back …
  bool moves_addresses = false;                       // … on this device or another one.
  bool waits_for_words = true;                        // Streams can wait for memory of the host.
  std::size_t bytes_a_millisecond = ~std::size_t{0};  // The rate of copies, with a thread.
  // Memory of the host is pinned and unpinned when no stream has work, as CUDA may do. If that
  // takes too long, it is a crime: a stream waits for the thread that pins. Needs a thread.
  bool pins_between_work = false;
};

// One object at a time may exist. While it does, rota uses its table.
class FakeDevice {
 public:
  explicit FakeDevice(const FakeDeviceOptions& options = {});
  ~FakeDevice();
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  static const cuda::Calls& calls();

  // Does one piece of the work of one stream, which is chosen at random. Returns false if no stream
  // has work that may start.
  bool work();
  // From now on until release(), no stream does any work.
  void hold();
  void release();

  // Lets a call of this kind fail, after `others` more calls of the kind.
  void fail(FakeCall call, std::size_t others = 0);
  // Lets the next work on a stream fault, as a kernel with a wrong address does. From then on every
  // call fails.
  void fault();
  // From now on until let_go(), the program captures this stream as a graph.
  void capture(const void* stream);
  void let_go(const void* stream);
  // Returns how many calls of this kind there were so far.
  std::size_t count(FakeCall call) const;
  // Returns how many bytes of pinned memory work on streams has read and written so far. On a GPU,
  // they cross the bus.
  std::size_t bytes_across_the_bus() const;
  // Returns what work on streams has done wrong: it used memory that was not there, or was no
  // longer there. Empty if nothing.
  std::string crime() const;

  // Look at memory of a device behind the back of the host. No work may be under way there.
  template <class T>
  void write(DeviceSpan<T> to, const std::vector<T>& values) {
    if (!values.empty())
      std::memcpy(inside(to.address()), values.data(), values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> read(DeviceSpan<T> from) {
    std::vector<T> values(from.size());
    if (!values.empty())
      std::memcpy(values.data(), inside(from.address()), from.size() * sizeof(T));
    return values;
  }

  // How many blocks of memory (of devices, and pinned), streams, events and graphs are not given
  // back.
  std::size_t open_things() const;

  // For the fake NCCL. Adds work to a stream. It is done once `may_start` is true, which is asked
  // again and again. Both are called with the lock of the devices. Returns an error code.
  static int add_work(cuda::Handle stream, std::function<bool()> may_start,
                      std::function<void()> work);
  // Returns where the device accesses bytes. Called by such work. Null, and a crime, if they are
  // not there.
  static std::byte* reach(const void* address, std::size_t bytes);
  // Returns the number of the allocation that an address belongs to, and 0 if there is none.
  static std::uint64_t number_at(const void* address);
  // Returns the device that this thread has entered last, and 0 if there is none.
  static std::uint8_t current_device();

  struct State;

 private:
  void* inside(const void* address) const;

  std::unique_ptr<State> state_;
};

}  // namespace rota::testing
