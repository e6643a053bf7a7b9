// The fake device repeats captured work as CUDA does, and finds what CUDA would not forgive.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <rota/device_memory.h>

#include "device/block.h"
#include "device/stream.h"
#include "testing/fake_device.h"

namespace rota {
namespace {

using device::Event;
using device::Stream;
using testing::FakeCall;
using testing::FakeDevice;

const cuda::Calls& table() { return FakeDevice::calls(); }

// A stream and a number on a device; each launch of `doubling` doubles the number.
class FakeGraphs : public ::testing::Test {
 protected:
  FakeGraphs() {
    fake_.write(number_.as<float>(), {3.0F});
    EXPECT_EQ(table().begin_capture(stream_.on()), 0);
    add_doubling();
    EXPECT_EQ(table().end_capture(stream_.on(), doubling_), 0);
  }
  void add_doubling() {
    float* const number = number_.as<float>().address();
    EXPECT_EQ(
        table().combine(stream_.on(), number, number, 1, DataType::kFloat32, ReduceOp::kSum, 1), 0);
  }
  void launch() { EXPECT_EQ(table().launch_graph(stream_.on(), doubling_), 0); }
  void work_off() {
    while (fake_.work()) continue;
  }
  float number() { return fake_.read(number_.as<float>())[0]; }

  FakeDevice fake_{{.has_thread = false}};
  DeviceBlock number_ = device::allocate_unwritten(sizeof(float), 0);
  Stream stream_{0};
  cuda::Handle doubling_ = 0;
};

TEST_F(FakeGraphs, DoTheirWorkOnceForEachLaunchAndLate) {
  work_off();
  EXPECT_EQ(number(), 3.0F) << "capturing does nothing";
  launch();
  launch();
  add_doubling();
  EXPECT_EQ(number(), 3.0F);
  work_off();
  EXPECT_EQ(number(), 24.0F);
  EXPECT_EQ(table().destroy_graph(0, doubling_), 0);
  EXPECT_EQ(fake_.crime(), "");
  EXPECT_EQ(fake_.count(FakeCall::kLaunchGraph), 2U);
}

TEST_F(FakeGraphs, RecordTheirEventsInEachLaunch) {
  const Event event(0);
  cuda::Handle graph = 0;
  ASSERT_EQ(table().begin_capture(stream_.on()), 0);
  stream_.record(event);
  add_doubling();
  ASSERT_EQ(table().end_capture(stream_.on(), graph), 0);
  EXPECT_TRUE(event.has_happened()) << "never recorded so far";
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_EQ(table().launch_graph(stream_.on(), graph), 0);
    EXPECT_FALSE(event.has_happened());
    fake_.work();
    EXPECT_TRUE(event.has_happened()) << "before the rest of the graph";
    work_off();
  }
  EXPECT_EQ(number(), 12.0F);
  EXPECT_EQ(fake_.crime(), "");
}

TEST_F(FakeGraphs, AreRefusedOnDemand) {
  cuda::Handle graph = 0;
  fake_.fail(FakeCall::kBeginCapture);
  EXPECT_NE(table().begin_capture(stream_.on()), 0);
  EXPECT_NE(table().end_capture(stream_.on(), graph), 0) << "nothing is captured";
  EXPECT_EQ(table().begin_capture(stream_.on()), 0);
  add_doubling();
  fake_.fail(FakeCall::kEndCapture);
  EXPECT_NE(table().end_capture(stream_.on(), graph), 0);
  EXPECT_EQ(graph, 0U);
  add_doubling();
  work_off();
  EXPECT_EQ(number(), 6.0F);
  EXPECT_EQ(fake_.crime(), "");
}

TEST_F(FakeGraphs, AreNotLaunchedAfterTheirEnd) {
  EXPECT_EQ(table().destroy_graph(0, doubling_), 0);
  EXPECT_NE(table().launch_graph(stream_.on(), doubling_), 0);
  EXPECT_EQ(fake_.crime(),
            "a graph is launched that is not there, not any more, or of another device");
}

TEST_F(FakeGraphs, AreNotDestroyedWhileTheyRun) {
  launch();
  table().destroy_graph(0, doubling_);
  EXPECT_EQ(fake_.crime(), "a graph is destroyed while a launch is under way");
}

TEST_F(FakeGraphs, DoNotUseMemoryThatWasGivenBack) {
  number_ = {};
  launch();
  work_off();
  EXPECT_EQ(fake_.crime(), "an addition uses memory that is not there, or not any more");
}

class FakeCaptures : public FakeGraphs {
 protected:
  FakeCaptures() { EXPECT_EQ(table().begin_capture(stream_.on()), 0); }
  void end() {
    cuda::Handle graph = 0;
    table().end_capture(stream_.on(), graph);
  }
};

TEST_F(FakeCaptures, ForbidTheirThreadToAllocateAndToTestEvents) {
  bool is_done = false;
  const Event event(0);
  std::thread([&] {
    const DeviceBlock block = device::allocate_unwritten(64, 0);
    EXPECT_EQ(table().test(0, event.handle(), is_done), 0);
  }).join();
  EXPECT_EQ(fake_.crime(), "");
  table().test(0, event.handle(), is_done);
  EXPECT_EQ(fake_.crime(), "memory or an event is used in a way that a capture forbids");
  end();
}

TEST_F(FakeCaptures, TakeNoWorkOfOtherThreadsAndNoWaits) {
  const Event event(0);
  table().wait_for(stream_.on(), event.handle());
  EXPECT_EQ(fake_.crime(), "work that cannot be captured is put on a captured stream");
  end();
}

}  // namespace
}  // namespace rota
