// Steps that every rank of a job takes, the same number of them even where the job is asked to end
// early: rotarun that gets SIGTERM has the ranks agree on the last one. A Trainer is made so; for a
// loop of one's own:
//
//   rota::AgreedSteps steps(communicator);
//   while (has_more() && steps.begin()) step();
//   save();
#pragma once
#include <memory>

#include <rota/communicator.h>
#include <rota/export.h>

namespace rota {

// One thread at a time may use it: the one that uses its Communicator.
class ROTA_EXPORT AgreedSteps {
 public:
  // Every rank makes one. From here until the last one of this process is destroyed, rotarun leaves
  // SIGTERM to it; so begin() has to be called every few seconds. `communicator` is lent. One that
  // does not have all ranks of the job is never asked to stop. Throws what collectives throw.
  explicit AgreedSteps(Communicator& communicator);
  AgreedSteps(const AgreedSteps&) = delete;
  AgreedSteps& operator=(const AgreedSteps&) = delete;
  ~AgreedSteps();

  // Whether to take one more step. Once it is false it stays so, on every rank after the same step
  // of this Communicator; they are counted over all objects of this kind. Waits only while the
  // ranks are about to agree, and allocates nothing before. Throws Error kTimeout, where a rank has
  // not answered within the deadline of a collective; kSystem, when the launcher is gone.
  bool begin();

 private:
  struct ROTA_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace rota
