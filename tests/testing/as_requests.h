// A communicator that makes every collective as a request: it starts the request and then waits for
// it. Between start and wait it overwrites the counts that it passed, because only the values are
// borrowed until the call completes.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <rota/communicator.h>

namespace rota::testing {

class AsRequests {
 public:
  using Counts = std::vector<std::size_t>;

  explicit AsRequests(Communicator& communicator) : comm_(communicator) {}

  void all_reduce(Values values, Reduction reduction) {
    comm_.all_reduce_async(values, reduction).wait();
  }
  void all_reduce(ConstValues input, Values output, Reduction reduction) {
    comm_.all_reduce_async(input, output, reduction).wait();
  }
  void all_reduce(std::initializer_list<Values> group, Reduction reduction) {
    all_reduce(std::span(group.begin(), group.size()), reduction);
  }
  void all_reduce(std::span<const Values> group, Reduction reduction) {
    comm_.all_reduce_async(group, reduction).wait();
  }

  void reduce(Values values, std::size_t root, Reduction reduction) {
    comm_.reduce_async(values, root, reduction).wait();
  }
  void reduce(ConstValues input, Values output, std::size_t root, Reduction reduction) {
    comm_.reduce_async(input, output, root, reduction).wait();
  }

  void reduce_scatter(Values values, Reduction reduction) {
    comm_.reduce_scatter_async(values, reduction).wait();
  }
  void reduce_scatter(ConstValues input, Values output, Reduction reduction) {
    comm_.reduce_scatter_async(input, output, reduction).wait();
  }
  void reduce_scatter_v(Values values, const Counts& counts, Reduction reduction) {
    Counts own = counts;
    wait(comm_.reduce_scatter_v_async(values, own, reduction), own);
  }
  void reduce_scatter_v(ConstValues input, Values output, const Counts& counts,
                        Reduction reduction) {
    Counts own = counts;
    wait(comm_.reduce_scatter_v_async(input, output, own, reduction), own);
  }

  void all_gather(Values values) { comm_.all_gather_async(values).wait(); }
  void all_gather(ConstValues part, Values all) { comm_.all_gather_async(part, all).wait(); }
  void all_gather_v(Values values, const Counts& counts) {
    Counts own = counts;
    wait(comm_.all_gather_v_async(values, own), own);
  }
  void all_gather_v(ConstValues part, Values all, const Counts& counts) {
    Counts own = counts;
    wait(comm_.all_gather_v_async(part, all, own), own);
  }

  void gather(ConstValues part, Values all, std::size_t root) {
    comm_.gather_async(part, all, root).wait();
  }
  void gather_v(ConstValues part, Values all, const Counts& counts, std::size_t root) {
    Counts own = counts;
    wait(comm_.gather_v_async(part, all, own, root), own);
  }
  void scatter(ConstValues all, Values part, std::size_t root) {
    comm_.scatter_async(all, part, root).wait();
  }
  void scatter_v(ConstValues all, Values part, const Counts& counts, std::size_t root) {
    Counts own = counts;
    wait(comm_.scatter_v_async(all, part, own, root), own);
  }

  void all_to_all(Values values) { comm_.all_to_all_async(values).wait(); }
  void all_to_all(ConstValues input, Values output) {
    comm_.all_to_all_async(input, output).wait();
  }
  void all_to_all_v(ConstValues input, const Counts& send_counts, Values output,
                    const Counts& receive_counts) {
    Counts sent = send_counts;
    Counts received = receive_counts;
    Request request = comm_.all_to_all_v_async(input, sent, output, received);
    overwrite(received);
    wait(std::move(request), sent);
  }

  void broadcast(Values values, std::size_t root) { comm_.broadcast_async(values, root).wait(); }

 private:
  static void overwrite(Counts& counts) {
    counts.assign(counts.size(), std::numeric_limits<std::size_t>::max());
  }
  static void wait(Request request, Counts& counts) {
    overwrite(counts);
    request.wait();
  }

  Communicator& comm_;
};

}  // namespace rota::testing
