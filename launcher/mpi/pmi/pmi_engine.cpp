// Answers the requests of MPICH's MPI_Init: who am I, where are the others, is everybody here?
#include "launcher/mpi/pmi/pmi_engine.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/byte_stream.h"
#include "launcher/mpi/pmi/process_mapping.h"

namespace rota::launcher {
namespace {

// The limits that MPICH is told. A value has at most kMostValueBytes - 1 bytes.
constexpr std::size_t kMostNameBytes = 256;
constexpr std::size_t kMostKeyBytes = 64;
constexpr std::size_t kMostValueBytes = 1024;

constexpr int kCodesOfProcess = 256;

std::string encode_entries(const std::map<std::string, std::string>& entries) {
  base::ByteWriter out;
  for (const auto& [key, value] : entries) {
    out.write(key);
    out.write(value);
  }
  return out.take_text();
}

std::string mapping_of(const MpiPlan& plan) {
  std::vector<std::uint32_t> nodes;
  for (const MpiPlace& place : plan.world) nodes.push_back(place.node);
  return process_mapping_of(nodes);
}

}  // namespace

PmiEngine::PmiEngine(const MpiPlan& plan, const HostAssignment& assignment)
    : world_size_(plan.world.size()), store_name_(plan.name) {
  for (std::size_t local = 0; local < assignment.ranks.size(); ++local) {
    const bool is_inside = mpi_rank_of(plan, assignment.ranks[local]).has_value();
    ranks_.push_back({.state = is_inside ? State::kStarted : State::kOutside,
                      .number = static_cast<std::uint32_t>(assignment.ranks[local]),
                      .group = assignment.groups[local]});
  }
  // Without this value, MPICH compares the names of hosts.
  std::string mapping = mapping_of(plan);
  if (mapping.size() < kMostValueBytes) store_["PMI_process_mapping"] = std::move(mapping);
}

void PmiEngine::on_bytes(std::size_t local_rank, std::string_view bytes) {
  Rank& rank = ranks_[local_rank];
  ROTA_ASSERT(rank.state != State::kOutside);
  if (rank.state == State::kFailed) return;
  rank.lines.append(bytes);
  while (const auto line = rank.lines.next()) {
    on_line(local_rank, *line);
    if (rank.state == State::kFailed) return;
  }
  if (rank.lines.is_too_long()) {
    fail(local_rank, "a line of more than " + std::to_string(kMostPmiLineBytes) + " bytes, " +
                         quote_pmi_line(rank.lines.rest()));
  }
}

// A request is one line with cmd=. Some requests, which rotarun refuses, begin with mcmd=, and end
// with a line "endcmd".
void PmiEngine::on_line(std::size_t local_rank, std::string_view line) {
  Rank& rank = ranks_[local_rank];
  if (!rank.command.empty()) {
    if (line != "endcmd") return;
    const std::string command = std::exchange(rank.command, {});
    if (!refuse(local_rank, command)) fail(local_rank, "mcmd=" + quote_pmi_line(command));
    return;
  }
  const auto parsed = PmiLine::parse(line);
  const std::string* several = parsed ? parsed->find("mcmd") : nullptr;
  const std::string* command = parsed ? parsed->find("cmd") : nullptr;
  const bool is_in_turn = rank.state == State::kConnected ||
                          (rank.state == State::kStarted && command && *command == "init");
  if (!command && !several) return fail(local_rank, quote_pmi_line(line));
  if (command && *command == "abort" && rank.state != State::kFinalized) {
    return on_abort(local_rank, *parsed);
  }
  if (!is_in_turn) return fail(local_rank, quote_pmi_line(line) + " out of turn");
  if (several) {
    rank.command = *several;
    return;
  }
  on_command(local_rank, *command, *parsed);
}

void PmiEngine::on_command(std::size_t local_rank, std::string_view command, const PmiLine& line) {
  if (command == "init") return on_init(local_rank, line);
  if (command == "put") return on_put(local_rank, line);
  if (command == "get") return on_get(local_rank, line);
  if (command == "barrier_in") return on_barrier(local_rank);
  if (command == "finalize") return on_finalize(local_rank);
  if (command == "get_maxes") {
    return answer(local_rank, "cmd=maxes rc=0 kvsname_max=" + std::to_string(kMostNameBytes) +
                                  " keylen_max=" + std::to_string(kMostKeyBytes) +
                                  " vallen_max=" + std::to_string(kMostValueBytes));
  }
  if (command == "get_appnum") {
    return answer(local_rank, "cmd=appnum rc=0 appnum=" + std::to_string(ranks_[local_rank].group));
  }
  if (command == "get_my_kvsname") {
    return answer(local_rank, "cmd=my_kvsname rc=0 kvsname=" + store_name_);
  }
  if (command == "get_universe_size") {
    return answer(local_rank, "cmd=universe_size rc=0 size=" + std::to_string(world_size_));
  }
  if (!refuse(local_rank, command)) fail(local_rank, "cmd=" + quote_pmi_line(command));
}

void PmiEngine::on_init(std::size_t local_rank, const PmiLine& line) {
  Rank& rank = ranks_[local_rank];
  if (rank.state != State::kStarted) return fail(local_rank, "cmd=init twice");
  if (line.number("pmi_version") != 1) {
    return fail(local_rank, "a request for PMI version " +
                                quote_pmi_line(line.text("pmi_version")) +
                                ", but rotarun has version 1");
  }
  rank.state = State::kConnected;
  answer(local_rank, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1");
  events_.push_back({.kind = MpiEvent::Kind::kConnected, .local_rank = local_rank});
}

void PmiEngine::on_put(std::size_t local_rank, const PmiLine& line) {
  const std::string key(line.text("key"));
  const std::string value(line.text("value"));
  if (line.text("kvsname") != store_name_ || key.empty() || key.size() > kMostKeyBytes ||
      value.size() >= kMostValueBytes) {
    return answer(local_rank, "cmd=put_result rc=-1 msg=no_such_store_or_too_long");
  }
  store_bytes_ += key.size() + value.size();
  if (store_bytes_ > kMostFenceBytes) {
    return fail(local_rank, "more than the " + std::to_string(kMostFenceBytes) +
                                " bytes for which the key-value store of its host has room");
  }
  store_[key] = value;
  news_[key] = value;
  answer(local_rank, "cmd=put_result rc=0 msg=success");
}

void PmiEngine::on_get(std::size_t local_rank, const PmiLine& line) {
  const auto found = store_.find(line.text("key"));
  if (line.text("kvsname") != store_name_ || found == store_.end()) {
    return answer(local_rank, "cmd=get_result rc=-1 msg=not_found value=unknown");
  }
  answer(local_rank, "cmd=get_result rc=0 msg=success value=" + found->second);
}

std::vector<std::uint32_t> PmiEngine::arrived() const {
  std::vector<std::uint32_t> numbers;
  for (const Rank& rank : ranks_) {
    if (rank.state == State::kWaiting) numbers.push_back(rank.number);
  }
  return numbers;
}

void PmiEngine::on_barrier(std::size_t local_rank) {
  ranks_[local_rank].state = State::kWaiting;
  const bool are_all_here = std::ranges::all_of(ranks_, [](const Rank& rank) {
    return rank.state == State::kWaiting || rank.state == State::kOutside;
  });
  if (!are_all_here) return;
  events_.push_back({.kind = MpiEvent::Kind::kFenced,
                     .local_rank = local_rank,
                     .share = {.key = std::to_string(barrier_count_),
                               .arrived = arrived(),
                               .data = encode_entries(std::exchange(news_, {}))}});
}

std::optional<FenceShare> PmiEngine::incomplete_fence() const {
  const bool is_incomplete = std::ranges::any_of(ranks_, [](const Rank& rank) {
    return rank.state != State::kWaiting && rank.state != State::kOutside;
  });
  FenceShare share{.key = std::to_string(barrier_count_), .arrived = arrived(), .is_whole = false};
  if (!is_incomplete || share.arrived.empty()) return std::nullopt;
  return share;
}

void PmiEngine::end_fence(const FenceResult& result) {
  if (result.key != std::to_string(barrier_count_)) return;
  ++barrier_count_;
  base::ByteReader in(base::bytes_of(result.data));
  while (in.ok() && !in.at_end()) {
    std::string key = in.read_text();
    store_.insert_or_assign(std::move(key), in.read_text());
  }
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    if (ranks_[local].state != State::kWaiting) continue;
    ranks_[local].state = State::kConnected;
    answer(local, "cmd=barrier_out rc=0");
  }
}

void PmiEngine::on_finalize(std::size_t local_rank) {
  ranks_[local_rank].state = State::kFinalized;
  answer(local_rank, "cmd=finalize_ack rc=0");
  events_.push_back({.kind = MpiEvent::Kind::kFinalized, .local_rank = local_rank});
}

void PmiEngine::on_abort(std::size_t local_rank, const PmiLine& line) {
  ranks_[local_rank].state = State::kFailed;
  const int code = line.number("exitcode").value_or(1);
  events_.push_back({.kind = MpiEvent::Kind::kAborted,
                     .local_rank = local_rank,
                     .code = static_cast<int>(static_cast<unsigned>(code) % kCodesOfProcess),
                     .text = "MPI_Abort, or an error in MPI, with code " + std::to_string(code)});
}

// Refuses a request that makes sense, but that rotarun does not serve. Returns false if the request
// is none of these. MPI then returns an error to the program.
bool PmiEngine::refuse(std::size_t local_rank, std::string_view command) {
  constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
      {"spawn", "spawn_result"},
      {"publish_name", "publish_result"},
      {"unpublish_name", "unpublish_result"},
      {"lookup_name", "lookup_result"}};
  const auto* found =
      std::ranges::find(kRefused, command, &std::pair<std::string_view, std::string_view>::first);
  if (found == std::end(kRefused)) return false;
  answer(local_rank, "cmd=" + std::string(found->second) +
                         " rc=-1 info=not_supported msg=rotarun_does_not_support_this");
  return true;
}

void PmiEngine::answer(std::size_t local_rank, std::string_view text) {
  answers_.push_back({.local_rank = local_rank, .bytes = std::string(text) + "\n"});
}

void PmiEngine::fail(std::size_t local_rank, const std::string& what) {
  ranks_[local_rank].state = State::kFailed;
  events_.push_back({.kind = MpiEvent::Kind::kAborted,
                     .local_rank = local_rank,
                     .code = 1,
                     .text = "it sent " + what + " to PMI_FD"});
}

}  // namespace rota::launcher
