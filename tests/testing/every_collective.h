// Calls every collective of a communicator in each of its forms, blocking and as requests, and
// compares each result with the serial reference. All ranks make the same calls. A wrong result is
// a GoogleTest failure.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <rota/communicator.h>

#include "testing/as_requests.h"
#include "testing/reference.h"

namespace rota::testing {

// `Calls`: the object on which the collectives are called. It is the communicator itself or
// AsRequests.
template <class T, class Calls = Communicator&>
class EveryCollectiveCheck {
 public:
  explicit EveryCollectiveCheck(Communicator& communicator)
      : comm_(communicator),
        calls_(communicator),
        rank_(communicator.rank()),
        n_(communicator.world_size()) {}

  void run(std::size_t count) {
    for_each_reduction<T>([&](const Reduction& reduction) {
      check_all_reduce(count, reduction);
      check_reduce(count, reduction);
      check_reduce_scatter(count, reduction);
    });
    check_group(count);
    check_all_gather(count);
    check_gather_and_scatter(count);
    check_all_to_all(count);
    check_broadcast(count);
    check_messages(count);
  }

 private:
  using List = std::vector<T>;

  static List given_by(std::size_t rank, Slice slice) {
    List values(slice.count);
    for (std::size_t i = 0; i < slice.count; ++i) values[i] = value_of<T>(rank, slice.offset + i);
    return values;
  }
  List given(std::size_t count) const { return given_by(rank_, {0, count}); }

  List reduction_of(Slice slice, const Reduction& reduction) const {
    List values(slice.count);
    for (std::size_t i = 0; i < slice.count; ++i) {
      values[i] = reduced<T>(reduction, n_, slice.offset + i);
    }
    return values;
  }

  void expect(const List& got, const List& expected, const std::string& what) const {
    ASSERT_EQ(got.size(), expected.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(got[i] == expected[i])
          << what << " of " << got.size() << " " << to_string(data_type_of<T>()) << ", rank "
          << rank_ << " of " << n_ << ", element " << i;
    }
  }

  // Returns the count of each rank's part: (r mod 3) * count for rank r, so some ranks have no
  // elements.
  std::vector<std::size_t> uneven_counts(std::size_t count) const {
    std::vector<std::size_t> counts(n_);
    for (std::size_t rank = 0; rank < n_; ++rank) counts[rank] = rank % 3 * count;
    return counts;
  }
  static Slice part_of(const std::vector<std::size_t>& counts, std::size_t rank) {
    return {std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank),
                            std::size_t{0}),
            counts[rank]};
  }
  static std::size_t sum_of(const std::vector<std::size_t>& counts) {
    return part_of(counts, counts.size() - 1).offset + counts.back();
  }

  void check_all_reduce(std::size_t count, const Reduction& reduction) {
    const std::string name = "all_reduce, " + std::string(to_string(reduction.op()));
    const List expected = reduction_of({0, count}, reduction);
    List values = given(count);
    calls_.all_reduce(values, reduction);
    expect(values, expected, name);
    const List input = given(count);
    List output(count);
    calls_.all_reduce(input, output, reduction);
    expect(output, expected, name + " from an input");
    expect(input, given(count), name + ": the input after it");
  }

  void check_reduce(std::size_t count, const Reduction& reduction) {
    const std::size_t root = count % n_;
    const std::string name = "reduce, " + std::string(to_string(reduction.op()));
    const List expected = reduction_of({0, count}, reduction);
    List values = given(count);
    calls_.reduce(values, root, reduction);
    if (rank_ == root) expect(values, expected, name);
    const List input = given(count);
    List output(rank_ == root ? count : 0);
    calls_.reduce(input, output, root, reduction);
    if (rank_ == root) expect(output, expected, name + " from an input");
    expect(input, given(count), name + ": the input after it");
  }

  void check_reduce_scatter(std::size_t count, const Reduction& reduction) {
    const std::string name = "reduce_scatter, " + std::string(to_string(reduction.op()));
    const auto check_part = [&](List& values, Slice part, const std::string& what) {
      expect({values.begin() + static_cast<std::ptrdiff_t>(part.offset),
              values.begin() + static_cast<std::ptrdiff_t>(part.offset + part.count)},
             reduction_of(part, reduction), what);
    };
    const Slice own = slice_of(count, rank_, n_);
    List values = given(count);
    calls_.reduce_scatter(values, reduction);
    check_part(values, own, name);
    const List input = given(count);
    List output(own.count);
    calls_.reduce_scatter(input, output, reduction);
    expect(output, reduction_of(own, reduction), name + " from an input");
    expect(input, given(count), name + ": the input after it");

    const auto counts = uneven_counts(count);
    const Slice part = part_of(counts, rank_);
    values = given(sum_of(counts));
    calls_.reduce_scatter_v(values, counts, reduction);
    check_part(values, part, name + " of uneven parts");
    const List uneven_input = given(sum_of(counts));
    output.assign(part.count, T{});
    calls_.reduce_scatter_v(uneven_input, output, counts, reduction);
    expect(output, reduction_of(part, reduction), name + " of uneven parts from an input");
  }

  void check_group(std::size_t count) {
    List first = given(count);
    List second = given_by(rank_, {count, 3});
    List third = given_by(rank_, {count + 3, count});
    calls_.all_reduce({first, second, third}, ReduceOp::kSum);
    check_group_of(first, second, third);
    first = given(count);
    second = given_by(rank_, {count, 3});
    third = given_by(rank_, {count + 3, count});
    const std::array<Values, 3> group{first, second, third};
    calls_.all_reduce(std::span<const Values>(group), ReduceOp::kSum);
    check_group_of(first, second, third);
  }
  void check_group_of(const List& first, const List& second, const List& third) const {
    const std::size_t count = first.size();
    expect(first, reduction_of({0, count}, ReduceOp::kSum), "grouped all_reduce, first");
    expect(second, reduction_of({count, 3}, ReduceOp::kSum), "grouped all_reduce, second");
    expect(third, reduction_of({count + 3, count}, ReduceOp::kSum), "grouped all_reduce, third");
  }

  // Returns the parts of all ranks. Rank r's part holds the first values of that rank's input.
  List all_parts(const std::vector<std::size_t>& counts) const {
    List all;
    for (std::size_t rank = 0; rank < n_; ++rank) {
      const List part = given_by(rank, {0, counts[rank]});
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }
  List only_own_part(const std::vector<std::size_t>& counts) const {
    List all(sum_of(counts), rounded<T>(99));
    const List own = given(counts[rank_]);
    std::copy(own.begin(), own.end(),
              all.begin() + static_cast<std::ptrdiff_t>(part_of(counts, rank_).offset));
    return all;
  }

  void check_all_gather(std::size_t count) {
    std::vector<std::size_t> even(n_);
    for (std::size_t rank = 0; rank < n_; ++rank) even[rank] = slice_of(count, rank, n_).count;
    List values = only_own_part(even);
    calls_.all_gather(values);
    expect(values, all_parts(even), "all_gather");
    values.assign(count, T{});
    const List even_part = given(even[rank_]);
    calls_.all_gather(even_part, values);
    expect(values, all_parts(even), "all_gather from an input");
    values = only_own_part(even);
    const Slice own = part_of(even, rank_);
    calls_.all_gather(std::span(values).subspan(own.offset, own.count), values);
    expect(values, all_parts(even), "all_gather of a part in its place");

    const auto counts = uneven_counts(count);
    values = only_own_part(counts);
    calls_.all_gather_v(values, counts);
    expect(values, all_parts(counts), "all_gather_v");
    values.assign(values.size(), T{});
    const List uneven_part = given(counts[rank_]);
    calls_.all_gather_v(uneven_part, values, counts);
    expect(values, all_parts(counts), "all_gather_v from an input");
  }

  void check_gather_and_scatter(std::size_t count) {
    const std::vector<std::size_t> even(n_, count);
    const auto uneven = uneven_counts(count);
    for (const std::size_t root : {std::size_t{0}, n_ - 1}) {
      List all(rank_ == root ? count * n_ : 0);
      const List even_part = given(count);
      calls_.gather(even_part, all, root);
      if (rank_ == root) expect(all, all_parts(even), "gather");
      List part(count);
      calls_.scatter(all, part, root);
      expect(part, even_part, "scatter");

      all.assign(rank_ == root ? sum_of(uneven) : 0, T{});
      const List uneven_part = given(uneven[rank_]);
      calls_.gather_v(uneven_part, all, uneven, root);
      if (rank_ == root) expect(all, all_parts(uneven), "gather_v");
      part.assign(uneven[rank_], T{});
      calls_.scatter_v(all, part, uneven, root);
      expect(part, uneven_part, "scatter_v");
    }
  }

  void check_all_to_all(std::size_t count) {
    List expected;
    for (std::size_t rank = 0; rank < n_; ++rank) {
      const List part = given_by(rank, {rank_ * count, count});
      expected.insert(expected.end(), part.begin(), part.end());
    }
    List values = given(count * n_);
    calls_.all_to_all(values);
    expect(values, expected, "all_to_all");
    List output(count * n_);
    const List input = given(count * n_);
    calls_.all_to_all(input, output);
    expect(output, expected, "all_to_all from an input");

    // Rank r sends count * ((r + p) mod 3) elements to rank p.
    std::vector<std::size_t> sent(n_);
    std::vector<std::size_t> received(n_);
    expected.clear();
    for (std::size_t peer = 0; peer < n_; ++peer) {
      sent[peer] = received[peer] = (rank_ + peer) % 3 * count;
      std::size_t before = 0;
      for (std::size_t i = 0; i < rank_; ++i) before += (peer + i) % 3 * count;
      const List part = given_by(peer, {before, received[peer]});
      expected.insert(expected.end(), part.begin(), part.end());
    }
    output.assign(expected.size(), T{});
    const List parts = given(sum_of(sent));
    calls_.all_to_all_v(parts, sent, output, received);
    expect(output, expected, "all_to_all_v");
  }

  void check_broadcast(std::size_t count) {
    for (std::size_t root = 0; root < n_; ++root) {
      List values = given(count);
      calls_.broadcast(values, root);
      expect(values, given_by(root, {0, count}), "broadcast");
    }
  }

  // Every rank sends two messages to the next rank, and receives afterwards: no send blocks.
  void check_messages(std::size_t count) {
    if (n_ == 1) return;
    const List first = given(count);
    const List second = given_by(rank_, {count, count + 1});
    const std::size_t next = (rank_ + 1) % n_;
    const std::size_t previous = (rank_ + n_ - 1) % n_;
    List from_first(count);
    List from_second(count + 1);
    std::vector<Request> requests;
    requests.push_back(comm_.send_async(first, next));
    requests.push_back(comm_.send_async(second, next));
    comm_.receive(from_first, previous);
    requests.push_back(comm_.receive_async(from_second, previous));
    wait_all(requests);
    expect(from_first, given_by(previous, {0, count}), "the first message");
    expect(from_second, given_by(previous, {count, count + 1}), "the second message");

    // One message goes from rank 0 around all ranks: each rank waits for it, then sends it on.
    List passed = given(count);
    if (rank_ == 0) comm_.send(passed, next);
    comm_.receive(passed, previous);
    expect(passed, given_by(0, {0, count}), "the message that goes around");
    if (rank_ != 0) comm_.send(passed, next);
  }

  Communicator& comm_;
  Calls calls_;
  std::size_t rank_;
  std::size_t n_;
};

template <class T>
void check_every_collective(Communicator& communicator) {
  const std::size_t n = communicator.world_size();
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, n + 1, 16 * n + 1, std::size_t{1009}}) {
    EveryCollectiveCheck<T>(communicator).run(count);
  }
  EveryCollectiveCheck<T, AsRequests>(communicator).run(16 * n + 1);
}

}  // namespace rota::testing
