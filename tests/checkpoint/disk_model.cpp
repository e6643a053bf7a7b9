// Applies each change to what processes see, and a synced one to the disk too.
#include "checkpoint/disk_model.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

namespace rota::testing {
namespace {

constexpr std::size_t kMostChangesForAll = 10;
constexpr std::size_t kDrawn = 100;

using Chosen = std::vector<bool>;  // Whether the disk has a change.

// Returns the sets of `count` changes that are tried.
std::vector<Chosen> choices(std::size_t count, std::uint64_t seed) {
  std::vector<Chosen> all;
  if (count <= kMostChangesForAll) {
    for (std::size_t bits = 0; bits < std::size_t{1} << count; ++bits) {
      Chosen& chosen = all.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) chosen[i] = (bits >> i & 1) != 0;
    }
    return all;
  }
  for (std::size_t i = 0; i <= count; ++i) {
    Chosen& first = all.emplace_back(count);
    std::fill_n(first.begin(), i, true);
    if (i == count) break;
    all.emplace_back(count)[i] = true;
    all.emplace_back(count, true)[i] = false;
  }
  std::mt19937_64 random(seed);
  for (std::size_t drawn = 0; drawn < kDrawn; ++drawn) {
    Chosen& chosen = all.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) chosen[i] = random() % 2 == 0;
  }
  return all;
}

}  // namespace

DiskModel::DiskModel(const std::string& root) : root_(root) { add_thing(true); }

std::size_t DiskModel::add_thing(bool is_folder) {
  for (Things* things : {&now_, &disk_}) things->push_back({.is_folder = is_folder});
  return now_.size() - 1;
}

std::optional<std::size_t> DiskModel::find(const std::string& path) const {
  if (!path.starts_with(root_)) throw std::logic_error(path + " is outside of the disk");
  std::size_t thing = 0;
  std::size_t begin = root_.size();
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin + 1), path.size());
    const auto found = now_[thing].names.find(path.substr(begin + 1, end - begin - 1));
    if (found == now_[thing].names.end()) return std::nullopt;
    thing = found->second;
    begin = end;
  }
  return thing;
}

DiskModel::Change DiskModel::name(const std::string& path, std::size_t named) const {
  const std::size_t slash = path.rfind('/');
  return {.kind = Change::Kind::kName,
          .thing = find(path.substr(0, slash)).value(),
          .named = named,
          .name = path.substr(slash + 1)};
}

void DiskModel::apply(const FileCall& call) {
  switch (call.kind) {
    case FileCall::Kind::kOpen:
    case FileCall::Kind::kClose:
      return;
    case FileCall::Kind::kCreate:
    case FileCall::Kind::kMakeFolder: {
      const std::size_t made = add_thing(call.kind == FileCall::Kind::kMakeFolder);
      return change(name(call.path, made));
    }
    case FileCall::Kind::kRename:
      return change(name(call.to, find(call.path).value()));
    case FileCall::Kind::kRemove: {
      Change removal = name(call.path, find(call.path).value());
      removal.kind = Change::Kind::kRemove;
      return change(std::move(removal));
    }
    case FileCall::Kind::kWrite:
    case FileCall::Kind::kTruncate:
      return change({.kind = call.kind == FileCall::Kind::kWrite ? Change::Kind::kWrite
                                                                 : Change::Kind::kTruncate,
                     .thing = find(call.path).value(),
                     .offset = call.offset,
                     .bytes = call.bytes});
    case FileCall::Kind::kSync:
      return sync(find(call.path).value());
  }
}

void DiskModel::change(Change change) {
  apply(change, now_);
  pending_.push_back(std::move(change));
}

void DiskModel::apply(const Change& change, Things& things) {
  Thing& thing = things[change.thing];
  switch (change.kind) {
    case Change::Kind::kName:
    case Change::Kind::kRemove:
      std::erase_if(thing.names, [&](const auto& entry) { return entry.second == change.named; });
      if (change.kind == Change::Kind::kName) thing.names[change.name] = change.named;
      return;
    case Change::Kind::kWrite:
      thing.bytes.resize(std::max(thing.bytes.size(), change.offset + change.bytes.size()));
      thing.bytes.replace(change.offset, change.bytes.size(), change.bytes);
      return;
    case Change::Kind::kTruncate:
      thing.bytes.resize(change.offset);
      return;
  }
}

void DiskModel::sync(std::size_t thing) {
  for (const Change& change : pending_) {
    if (change.thing == thing) apply(change, disk_);
  }
  std::erase_if(pending_, [&](const Change& change) { return change.thing == thing; });
  forget_unreachable();
}

// Forgets things that no name on the disk can lead to: nobody can see them again.
void DiskModel::forget_unreachable() {
  std::vector<std::size_t> found = {0};
  std::vector<bool> is_reachable(disk_.size());
  while (!found.empty()) {
    const std::size_t thing = found.back();
    found.pop_back();
    if (is_reachable[thing]) continue;
    is_reachable[thing] = true;
    for (const auto& [name, named] : disk_[thing].names) found.push_back(named);
    for (const auto& [name, named] : now_[thing].names) found.push_back(named);
    for (const Change& change : pending_) {
      if (change.kind == Change::Kind::kName && change.thing == thing) {
        found.push_back(change.named);
      }
    }
  }
  std::erase_if(pending_, [&](const Change& change) { return !is_reachable[change.thing]; });
}

Tree DiskModel::tree_of(const Things& things) {
  Tree tree;
  std::vector<std::pair<std::string, std::size_t>> folders = {{"", 0}};
  while (!folders.empty()) {
    const auto [path, folder] = std::move(folders.back());
    folders.pop_back();
    for (const auto& [name, named] : things[folder].names) {
      const bool is_folder = things[named].is_folder;
      tree[path + name] = is_folder ? std::nullopt : std::optional(things[named].bytes);
      if (is_folder) folders.emplace_back(path + name + "/", named);
    }
  }
  return tree;
}

Tree DiskModel::now() const { return tree_of(now_); }

std::set<Tree> DiskModel::after_loss_of_power(std::uint64_t seed) const {
  std::set<Tree> trees;
  for (const Chosen& chosen : choices(pending_.size(), seed)) {
    Things things = disk_;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (chosen[i]) apply(pending_[i], things);
    }
    trees.insert(tree_of(things));
  }
  return trees;
}

}  // namespace rota::testing
