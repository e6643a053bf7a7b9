// Counts the steps of a job so that every rank takes the same number of them, even if the job ends
// early. When rotarun gets SIGTERM, the ranks agree on the last step. A Trainer uses this class. A
// loop of your own uses it like this:
//
//   rota::AgreedSteps steps(communicator);
//   while (has_more() && steps.begin()) step();
//   save();
#pragma once
#include <memory>

#include <rota/communicator.h>
#include <rota/export.h>

namespace rota {

// One thread at a time may use an AgreedSteps: the thread that uses its Communicator.
class ROTA_EXPORT AgreedSteps {
 public:
  // Every rank must make an AgreedSteps. Until the last AgreedSteps of this process is destroyed,
  // rotarun does not end the ranks on SIGTERM but lets them agree. So each rank must call begin()
  // every few seconds. `communicator` is borrowed. With a Communicator that lacks ranks of the job,
  // begin() always returns true. Throws what collectives throw.
  explicit AgreedSteps(Communicator& communicator);
  AgreedSteps(const AgreedSteps&) = delete;
  AgreedSteps& operator=(const AgreedSteps&) = delete;
  ~AgreedSteps();

  // Returns whether to take one more step. After the first false, every call returns false. Every
  // rank gets false after the same step of this Communicator; all AgreedSteps of a Communicator
  // share one count. Waits only while the ranks agree on the last step, and allocates nothing
  // before that. Throws Error kTimeout if a rank has not answered within the deadline of a
  // collective, and kSystem if the launcher is gone.
  bool begin();

 private:
  struct ROTA_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace rota
