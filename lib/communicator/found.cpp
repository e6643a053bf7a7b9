// Each new rank prepares its end, tells all where that is, and takes hold of the others'.
#include "communicator/found.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/transports.h"
#include "os/address.h"
#include "os/host.h"
#include "transport/fabric.h"

namespace rota {
namespace {

using collectives::Collective;

// What a new rank tells all others.
struct Word {
  transport::Ticket ticket;
  std::array<std::byte, 16> nonce{};  // Makes a key of the new ranks' own.
};

// Every rank's objects in rank order; rank r gives counts[r] of them.
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

// Who is to sit where, and what this process has for its own seats.
class Founding {
 public:
  // `seats`: the parent's rank at each new rank.
  Founding(CommunicatorImpl& parent, std::vector<std::size_t> seats, std::string name)
      : parent_(parent), seats_(std::move(seats)), name_(std::move(name)) {
    for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
      if (seats_[rank] == parent_.group().rank) site_.own.push_back(rank);
      site_.islands.push_back(parent_.group().islands[seats_[rank]]);
    }
  }

  // `word_counts`: how many each rank of the parent has to say, whatever group they are for.
  std::vector<Group> run(const std::vector<std::size_t>& word_counts) {
    const auto all = all_gather<Word>(parent_, own_words(), word_counts);
    std::vector<std::size_t> next(word_counts.size());
    for (std::size_t rank = 1; rank < next.size(); ++rank) {
      next[rank] = next[rank - 1] + word_counts[rank - 1];
    }
    for (const std::size_t seat : seats_) words_.push_back(all[next[seat]++]);

    std::vector<Group> groups;
    for (const std::size_t rank : site_.own) groups.push_back(describe(rank));
    if (fabric_) {
      try {
        connect(groups);
      } catch (const Error& error) {
        tell_all(error);
        throw;
      }
    }
    return groups;
  }

 private:
  // Others wait for this rank, here and at the parent. Blamed is a new rank.
  void tell_all(const Error& error) const {
    if (!old().membership) return;
    std::optional<std::size_t> member;
    if (error.blamed_rank()) member = old().members[seats_[*error.blamed_rank()]];
    old().membership->abort(error.code(), member, error.what());
  }

  const Group& old() const { return parent_.group(); }

  // As a person wrote it or the launcher chose it; a world of one has none.
  std::string address_of(std::size_t seat, std::uint16_t port) const {
    const std::string& address = old().table.rows[seat].address;
    return os::with_port(address.empty() ? "127.0.0.1:0" : address, port);
  }

  // A new rank that is alone needs no transport, and says nothing.
  std::vector<Word> own_words() {
    std::vector<Word> words(site_.own.size());
    if (seats_.size() == 1) return words;
    try {
      fabric_ =
          old().transport ? old().transport->found(site_) : transport::fabric_of_threads(site_);
      const auto tickets = fabric_->issue(address_of(old().rank, 0));
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i].ticket = tickets[i];
        os::fill_with_randomness(words[i].nonce);
      }
    } catch (const Error& error) {
      tell_all(error);
      throw;
    }
    return words;
  }

  Group describe(std::size_t rank) const {
    Group group;
    group.name = name_;
    group.rank = rank;
    group.table = old().table;
    group.table.transport = base::kNoTransport;  // Until it has one.
    group.table.rows.clear();
    group.islands = site_.islands;
    for (std::size_t seat = 0; seat < seats_.size(); ++seat) {
      RankRow row = old().table.rows[seats_[seat]];
      row.local_rank = static_cast<std::size_t>(
          std::count_if(group.table.rows.begin(), group.table.rows.end(),
                        [&](const RankRow& before) { return before.host == row.host; }));
      const auto port = static_cast<std::uint16_t>(words_[seat].ticket.port);
      row.address = port == 0 ? "" : address_of(seats_[seat], port);
      group.table.rows.push_back(row);
      group.members.push_back(old().members[seats_[seat]]);
    }
    const auto& nonce = words_.front().nonce;
    group.key = auth::job_key(old().key.bytes(),
                              {reinterpret_cast<const char*>(nonce.data()), nonce.size()});
    group.encrypts = old().encrypts;
    group.deadline = old().deadline;
    group.may_spin = old().may_spin && site_.own.size() == 1;
    group.verbose = old().verbose;
    group.tuned = old().tuned;
    group.membership = old().membership;
    return group;
  }

  // The groups are one, as each rank of this process sees it.
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
    auto transports = fabric_->connect(tickets, terms, base::Clock::now() + group.deadline);
    if (group.membership) group.membership->report_resumed();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i].table.transport = transports[i]->name();
      groups[i].transport = std::move(transports[i]);
    }
  }

  static void look_around(const Group& group) {
    if (const auto cause = group.membership->hear()) throw Error(*cause);
    for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
      if (const auto how = group.membership->departure(group.members[rank])) {
        throw Error(ErrorCode::kPeerLost,
                    "rank " + std::to_string(rank) + " " + *how + " before it was met", rank);
      }
    }
  }

  CommunicatorImpl& parent_;
  std::vector<std::size_t> seats_;
  std::string name_;
  transport::Site site_;
  std::unique_ptr<transport::Fabric> fabric_;  // None where the new rank is alone.
  std::vector<Word> words_;                    // By new rank.
};

}  // namespace

Group split_group(CommunicatorImpl& parent, std::size_t color, std::size_t key) {
  struct Wish {
    std::uint64_t color;
    std::uint64_t key;
  };
  const std::size_t n = parent.group().world_size();
  const std::vector<std::size_t> one_each(n, 1);
  const Wish mine{color, key};
  const auto wishes = all_gather<Wish>(parent, std::span(&mine, 1), one_each);
  std::vector<std::size_t> seats;
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (wishes[rank].color == color) seats.push_back(rank);
  }
  std::stable_sort(seats.begin(), seats.end(),
                   [&](std::size_t a, std::size_t b) { return wishes[a].key < wishes[b].key; });
  const std::string name =
      parent.group().name + "." + std::to_string(parent.next_child()) + "/" + std::to_string(color);
  return std::move(Founding(parent, std::move(seats), name).run(one_each).front());
}

std::vector<Group> groups_for_threads(CommunicatorImpl& parent, std::size_t thread_count) {
  const std::size_t n = parent.group().world_size();
  const auto mine = static_cast<std::uint64_t>(thread_count);
  const auto said =
      all_gather<std::uint64_t>(parent, std::span(&mine, 1), std::vector<std::size_t>(n, 1));
  const std::vector<std::size_t> counts(said.begin(), said.end());
  std::vector<std::size_t> seats;
  for (std::size_t rank = 0; rank < n; ++rank) seats.insert(seats.end(), counts[rank], rank);
  const std::string name = parent.group().name + "." + std::to_string(parent.next_child());
  return Founding(parent, std::move(seats), name).run(counts);
}

}  // namespace rota
