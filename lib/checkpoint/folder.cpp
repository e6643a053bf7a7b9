// Lists, adds and removes the checkpoints of a folder.
#include "checkpoint/folder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <rota/error.h>

#include "base/assert.h"
#include "checkpoint/exchange.h"
#include "checkpoint/file_names.h"
#include "os/durable_file.h"

namespace rota::checkpoint {
namespace {

std::vector<std::string> names_if_there(const std::string& path) {
  try {
    return os::names_in(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) return {};
    throw;
  }
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string path) : path_(std::move(path)) {}

std::string CheckpointFolder::inside(const std::string& name) const { return path_ + "/" + name; }

std::string CheckpointFolder::path_of(std::uint64_t step) const {
  return inside(folder_name(step));
}

std::string CheckpointFolder::path_of_hidden(const SaveName& save) const {
  return inside(hidden_name(save));
}

void CheckpointFolder::create() const { os::make_folders(path_); }

// Both names are those of saves, so sweep() deletes what a killed job leaves.
void CheckpointFolder::require_renames(const RunId& token) const {
  const std::string hidden = begin({.step = 0, .run = token, .start = 1});
  const std::string renamed = path_of_hidden({.step = 0, .run = token, .start = 2});
  os::NewFile(hidden + "/" + kProbeName).close();
  const std::string failure = failure_of([&] { os::require_rename(hidden, renamed); });
  os::remove_all(failure.empty() ? renamed : hidden);
  if (!failure.empty()) throw Error(ErrorCode::kCannotWrite, failure);
  os::sync_folder(path_);
}

std::vector<std::uint64_t> CheckpointFolder::steps() const {
  std::vector<std::uint64_t> steps;
  for (const std::string& name : names_if_there(path_)) {
    if (const auto step = step_of_folder(name)) steps.push_back(*step);
  }
  std::ranges::sort(steps, std::greater());
  return steps;
}

std::vector<SaveName> CheckpointFolder::hidden_saves() const {
  std::vector<SaveName> saves;
  for (const std::string& name : names_if_there(path_)) {
    if (const auto save = save_of_hidden(name)) saves.push_back(*save);
  }
  return saves;
}

std::string CheckpointFolder::begin(const SaveName& save) const {
  std::string hidden = path_of_hidden(save);
  os::remove_all(hidden);
  os::make_folder(hidden);
  return hidden;
}

std::string CheckpointFolder::commit(const SaveName& save) const {
  std::string path = path_of(save.step);
  if (os::exists(path)) set_aside(save.step);
  os::rename(path_of_hidden(save), path);
  os::sync_folder(path_);
  return path;
}

void CheckpointFolder::set_aside(std::uint64_t step) const {
  std::size_t number = 1;
  while (os::exists(inside(set_aside_name(step, number)))) ++number;
  os::rename(path_of(step), inside(set_aside_name(step, number)));
}

void CheckpointFolder::set_aside_after(std::uint64_t step) const {
  std::vector<std::uint64_t> later = steps();
  std::erase_if(later, [step](std::uint64_t there) { return there <= step; });
  for (const std::uint64_t there : later) set_aside(there);
  if (!later.empty()) os::sync_folder(path_);
}

// Deletes the first file only when the disk has the hidden name. Otherwise, after a loss of power,
// half of a checkpoint could have the name of a checkpoint.
void CheckpointFolder::remove(std::uint64_t step) const {
  if (!os::exists(path_of(step))) return;
  const std::string hidden = inside(removed_name(step));
  os::remove_all(hidden);
  os::rename(path_of(step), hidden);
  os::sync_folder(path_);
  os::remove_all(hidden);
}

std::vector<std::uint64_t> CheckpointFolder::keep_newest(
    std::size_t keep, std::uint64_t last, const std::vector<std::uint64_t>& spared) const {
  ROTA_ASSERT(keep > 0);
  std::vector<std::uint64_t> removed = steps();
  std::erase_if(removed, [last](std::uint64_t step) { return step > last; });
  removed.erase(removed.begin(),
                removed.begin() + static_cast<std::ptrdiff_t>(std::min(keep, removed.size())));
  std::erase_if(removed, [&spared](std::uint64_t step) {
    return std::ranges::find(spared, step) != spared.end();
  });
  for (const std::uint64_t step : removed) remove(step);
  return removed;
}

std::vector<std::string> CheckpointFolder::sweep() const {
  std::vector<std::string> names = names_if_there(path_);
  std::erase_if(names, [](const std::string& name) { return !is_leftover(name); });
  for (const std::string& name : names) os::remove_all(inside(name));
  return names;
}

}  // namespace rota::checkpoint
