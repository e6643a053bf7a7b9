// Creates groups: each rank of the group prepares its endpoint, all ranks of the group exchange the
// addresses of their endpoints, and each rank connects to the others. The parent is the group from
// which a group is created. A rank has one number in the created group and another number in the
// parent.
#include "communicator/create_group.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/transports.h"
#include "base/world_size.h"
#include "cluster/host_names.h"
#include "communicator/blame.h"
#include "os/address.h"
#include "os/host.h"
#include "transport/fabric.h"

namespace rota {
namespace {

using collectives::Collective;

// The message of each rank of the created group to all other ranks of that group. It is sent as it
// is in memory, so it has no padding.
struct Word {
  transport::Ticket ticket;
  std::array<std::byte, 16> nonce{};  // The group's key is derived from rank 0's nonce.
  collectives::GroupWord library{};   // Of rank 0: for the parent's methods.
};
static_assert(sizeof(Word) == 176 && std::has_unique_object_representations_v<Word>);

// Gathers the objects of all ranks in rank order. Rank r contributes counts[r] objects.
template <class T>
std::vector<T> all_gather(CommunicatorImpl& parent, std::span<const T> own,
                          std::vector<std::size_t> counts) {
  std::size_t total = 0;
  for (std::size_t& count : counts) {
    total += count;
    count *= sizeof(T);
  }
  std::vector<T> all(total);
  parent.wait(parent.submit({.what = {.collective = Collective::kAllGather, .uneven = true},
                             .values = std::as_writable_bytes(std::span(all)),
                             .input = std::as_bytes(own),
                             .counts = counts}));
  return all;
}

// Creates one group, and keeps the state of the group's ranks in this process.
class GroupCreation {
 public:
  // `parent_ranks`: index = rank in the created group; value = rank of the same process in the
  // parent.
  GroupCreation(CommunicatorImpl& parent, std::vector<std::size_t> parent_ranks, std::string name,
                base::Duration deadline)
      : parent_(parent),
        parent_ranks_(std::move(parent_ranks)),
        name_(std::move(name)),
        deadline_(deadline) {
    shape_.ports = parent.group().ports;
    const std::string first_host = host_of(parent_ranks_.front());
    for (std::size_t rank = 0; rank < parent_ranks_.size(); ++rank) {
      if (parent_ranks_[rank] == parent_.group().rank) shape_.own.push_back(rank);
      shape_.domains.push_back(parent_.group().domains[parent_ranks_[rank]]);
      if (host_of(parent_ranks_[rank]) != first_host) shape_.is_between_hosts = true;
    }
  }

  // `word_counts`: the number of words from each rank of the parent, for all groups that are
  // created together.
  std::vector<Group> run(const std::vector<std::size_t>& word_counts) {
    const auto all = all_gather<Word>(parent_, own_words(), word_counts);
    std::vector<std::size_t> next(word_counts.size());
    for (std::size_t rank = 1; rank < next.size(); ++rank) {
      next[rank] = next[rank - 1] + word_counts[rank - 1];
    }
    for (const std::size_t rank : parent_ranks_) words_.push_back(all[next[rank]++]);

    std::vector<Group> groups;
    for (const std::size_t rank : shape_.own) groups.push_back(describe(rank));
    if (fabric_) {
      try {
        connect(groups);
        for (Group& group : groups) add_methods(group);
      } catch (const Error& error) {
        tell_all(error);
        throw;
      }
    }
    return groups;
  }

 private:
  // Reports an error of this rank to the job: other ranks wait for this rank, in the created group
  // and in the parent. The blamed rank of `error` is numbered in the created group.
  void tell_all(const Error& error) const {
    if (!old().membership) return;
    std::optional<std::size_t> member;
    if (error.blamed_rank()) member = old().members[parent_ranks_[*error.blamed_rank()]];
    old().membership->abort(error.code(), member, error.what());
  }

  const Group& old() const { return parent_.group(); }

  // Returns the host in the address of rank `rank` of the parent, or an empty text if the rank has
  // no address. A firewall sees this address, and two machines may have the same name. Loopback is
  // one host, however it is written.
  std::string host_of(std::size_t rank) const {
    const std::string& address = old().table.rows[rank].address;
    if (address.empty()) return {};
    const std::string host = cluster::to_compare(os::split_address(address).host);
    return cluster::is_loopback(host) ? os::kLoopback : host;
  }

  // Returns the address of rank `rank` of the parent, with port `port`. The user or the launcher
  // gave the address. A world of one has no address: then this is a loopback address.
  std::string address_of(std::size_t rank, std::uint16_t port) const {
    const std::string& address = old().table.rows[rank].address;
    return os::with_port(address.empty() ? "127.0.0.1:0" : address, port);
  }

  // Makes the words of those ranks of the created group that are in this process. A group of one
  // needs no transport, so its words stay empty.
  std::vector<Word> own_words() {
    std::vector<Word> words(shape_.own.size());
    if (parent_ranks_.size() == 1) return words;
    try {
      fabric_ = old().transport ? old().transport->group_fabric(shape_)
                                : transport::fabric_of_threads(shape_);
      const auto tickets = fabric_->issue(address_of(old().rank, 0));
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i].ticket = tickets[i];
        os::fill_with_randomness(words[i].nonce);
      }
      if (!words.empty() && shape_.own.front() == 0) words.front().library = library_word();
    } catch (const Error& error) {
      tell_all(error);
      throw;
    }
    return words;
  }

  // At most one method of the parent has a word for the new group.
  collectives::GroupWord library_word() const {
    for (const auto& method : old().methods) {
      if (const auto word = method->make_group_word()) return *word;
    }
    return {};
  }

  // Adds the methods that the parent's methods make for the new group.
  void add_methods(Group& group) const {
    const collectives::NewGroup view{.rank = group.rank,
                                     .world_size = group.world_size(),
                                     .who = name_of(group.rank, group.table),
                                     .deadline = group.deadline,
                                     .memory = group.transport->shared_memory()};
    for (const auto& method : old().methods) {
      auto made = method->for_group(words_.front().library, view);
      if (made) group.methods.push_back(std::move(made));
    }
  }

  Group describe(std::size_t rank) const {
    Group group;
    group.name = name_;
    group.rank = rank;
    group.table = old().table;
    group.table.transport = base::kNoTransport;  // Until the group is connected.
    group.table.rows.clear();
    group.domains = shape_.domains;
    for (std::size_t member = 0; member < parent_ranks_.size(); ++member) {
      RankRow row = old().table.rows[parent_ranks_[member]];
      row.local_rank = static_cast<std::size_t>(
          std::count_if(group.table.rows.begin(), group.table.rows.end(),
                        [&](const RankRow& before) { return before.host == row.host; }));
      const auto port = static_cast<std::uint16_t>(words_[member].ticket.port);
      row.address = port == 0 ? "" : address_of(parent_ranks_[member], port);
      group.table.rows.push_back(row);
      group.members.push_back(old().members[parent_ranks_[member]]);
    }
    const auto& nonce = words_.front().nonce;
    group.key = auth::job_key(old().key.bytes(),
                              {reinterpret_cast<const char*>(nonce.data()), nonce.size()});
    group.encrypts = old().encrypts;
    group.ports = old().ports;
    group.deadline = deadline_;
    group.may_spin = old().may_spin && shape_.own.size() == 1;
    group.verbose = old().verbose;
    group.tuned = old().tuned;
    group.membership = old().membership;
    return group;
  }

  // Connects the group. `groups`: the same group, as seen by each of its ranks in this process.
  void connect(std::vector<Group>& groups) {
    const Group& group = groups.front();
    transport::CallTerms terms{
        .addresses = {}, .key = group.key, .encrypts = group.encrypts, .epoch = group.table.epoch};
    if (group.membership) {
      terms.look_around = [&group] { look_around(group); };
      terms.report_wait = [&group](std::size_t peer) {
        group.membership->report_waiting(group.members[peer], {}, {});
      };
    }
    std::vector<transport::Ticket> tickets;
    for (const Word& word : words_) tickets.push_back(word.ticket);
    for (const RankRow& row : group.table.rows) terms.addresses.push_back(row.address);
    auto transports = fabric_->connect(tickets, terms, base::Clock::now() + old().deadline);
    if (group.membership) group.membership->report_resumed();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i].table.transport = transports[i]->name();
      groups[i].transport = std::move(transports[i]);
    }
  }

  // The launcher numbers ranks as in the job. It may blame a rank outside of the group.
  static void look_around(const Group& group) {
    if (const auto cause = group.membership->hear()) throw told_by_launcher(*cause, group.members);
    for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
      if (const auto how = group.membership->departure(group.members[rank])) {
        throw Error(
            ErrorCode::kPeerLost,
            "rank " + std::to_string(rank) + " " + *how + " before this rank connected to it",
            rank);
      }
    }
  }

  CommunicatorImpl& parent_;
  std::vector<std::size_t> parent_ranks_;
  std::string name_;
  base::Duration deadline_;  // Of the created group's collectives.
  transport::GroupShape shape_;
  std::unique_ptr<transport::Fabric> fabric_;  // Null in a group of one.
  std::vector<Word> words_;                    // Index = rank in the created group.
};

// Adds up the numbers of threads of all ranks. One of them may be any number, and their sum may
// overflow.
void require_room_for(std::span<const std::uint64_t> thread_counts) {
  std::uint64_t room = base::kMaxWorldSize;
  for (std::size_t rank = 0; rank < thread_counts.size(); ++rank) {
    const std::uint64_t count = thread_counts[rank];
    if (count > room) {
      throw Error(ErrorCode::kInvalidArgument,
                  "rank " + std::to_string(rank) + " asks for " + std::to_string(count) +
                      " threads, but after the ranks before it there is room for " +
                      std::to_string(room) + ": a world has at most " +
                      std::to_string(base::kMaxWorldSize) + " ranks");
    }
    room -= count;
  }
}

}  // namespace

void require_thread_count(std::size_t thread_count) {
  if (thread_count > 0 && thread_count <= base::kMaxWorldSize) return;
  throw Error(ErrorCode::kInvalidArgument, "a world needs at least one thread, and has at most " +
                                               std::to_string(base::kMaxWorldSize) + ": " +
                                               std::to_string(thread_count) + " were asked for");
}

Group split_group(CommunicatorImpl& parent, std::size_t color, std::size_t key,
                  std::optional<std::chrono::nanoseconds> deadline) {
  struct Wish {
    std::uint64_t color;
    std::uint64_t key;
  };
  const std::size_t n = parent.group().world_size();
  const std::vector<std::size_t> one_each(n, 1);
  const Wish mine{color, key};
  const auto wishes = all_gather<Wish>(parent, std::span(&mine, 1), one_each);
  std::vector<std::size_t> parent_ranks;
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (wishes[rank].color == color) parent_ranks.push_back(rank);
  }
  std::stable_sort(parent_ranks.begin(), parent_ranks.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a].key < wishes[b].key; });
  const std::string name =
      parent.group().name + "." + std::to_string(parent.next_child()) + "/" + std::to_string(color);
  const base::Duration longest =
      std::min<base::Duration>(deadline.value_or(parent.group().deadline), base::kForever);
  return std::move(
      GroupCreation(parent, std::move(parent_ranks), name, longest).run(one_each).front());
}

std::vector<Group> groups_for_threads(CommunicatorImpl& parent, std::size_t thread_count) {
  const std::size_t n = parent.group().world_size();
  const auto mine = static_cast<std::uint64_t>(thread_count);
  const auto said =
      all_gather<std::uint64_t>(parent, std::span(&mine, 1), std::vector<std::size_t>(n, 1));
  require_room_for(said);
  const std::vector<std::size_t> counts(said.begin(), said.end());
  std::vector<std::size_t> parent_ranks;
  for (std::size_t rank = 0; rank < n; ++rank)
    parent_ranks.insert(parent_ranks.end(), counts[rank], rank);
  const std::string name = parent.group().name + "." + std::to_string(parent.next_child());
  return GroupCreation(parent, std::move(parent_ranks), name, parent.group().deadline).run(counts);
}

}  // namespace rota
