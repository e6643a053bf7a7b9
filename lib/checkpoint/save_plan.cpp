// Deals the shared tensors, and puts each rank's rows into the file of their kind.
#include "checkpoint/save_plan.h"

#include <utility>

#include "checkpoint/deal.h"
#include "checkpoint/file_names.h"

namespace rota::checkpoint {
namespace {

class Planner {
 public:
  explicit Planner(const Writers& writers) : writers_(writers) {}

  void add(FileKind kind, const VisitedTensor& tensor, const Rows& rows) {
    const std::size_t skipped = bytes_of(tensor.info, {0, rows.first});
    const std::size_t bytes = bytes_of(tensor.info, rows);
    file_of(kind).tensors.push_back({tensor.info, rows, plan_.shares.size()});
    plan_.shares.push_back(
        {tensor.memory.subspan(skipped, bytes), tensor.piece.writer, tensor.piece.index});
  }
  void add_own(const VisitedFact& fact) {
    file_of(FileKind::kRank).facts.push_back({fact.piece.name, fact.value});
  }
  void add_own(const VisitedCounter& counter) {
    file_of(FileKind::kRank).counters.push_back({counter.piece.name, counter.value});
  }
  SavePlan take() { return std::move(plan_); }

 private:
  PlannedFile& file_of(FileKind kind) {
    const std::string name =
        to_text(kind == FileKind::kRank ? FileName{kind, writers_.rank(), writers_.world_size()}
                                        : FileName{kind, writers_.index(), writers_.group_size()});
    for (PlannedFile& file : plan_.files) {
      if (file.name == name) return file;
    }
    plan_.files.emplace_back().name = name;
    return plan_.files.back();
  }

  const Writers& writers_;
  SavePlan plan_;
};

}  // namespace

SavePlan plan_save(const Contents& contents, const Writers& writers) {
  Planner planner(writers);
  std::vector<const VisitedTensor*> shared;
  std::vector<TensorInfo> infos;
  for (const VisitedTensor& tensor : contents.tensors) {
    if (is_shared(tensor.piece)) {
      shared.push_back(&tensor);
      infos.push_back(tensor.info);
    } else {
      planner.add(FileKind::kRank, tensor, all_rows_of(tensor.info));
    }
  }
  const std::vector<std::vector<DealtRows>> all = deal(infos, writers.group_size());
  for (const DealtRows& dealt : all[writers.index()]) {
    const VisitedTensor& tensor = *shared[dealt.tensor];
    planner.add(kind_of_shared(tensor.info.name), tensor, dealt.rows);
  }
  for (const VisitedFact& fact : contents.facts) {
    if (!is_shared(fact.piece)) planner.add_own(fact);
  }
  for (const VisitedCounter& counter : contents.counters) {
    if (!is_shared(counter.piece)) planner.add_own(counter);
  }
  return planner.take();
}

Manifest manifest_of(const Contents& contents) {
  Manifest manifest;
  for (const VisitedFact& fact : contents.facts) {
    if (is_shared(fact.piece)) manifest.facts.push_back({fact.piece.name, fact.value});
  }
  for (const VisitedCounter& counter : contents.counters) {
    if (is_shared(counter.piece)) manifest.counters.push_back({counter.piece.name, counter.value});
  }
  for (const VisitedTensor& tensor : contents.tensors) {
    if (is_shared(tensor.piece)) manifest.tensors.push_back(tensor.info);
  }
  return manifest;
}

FileContents contents_of(const PlannedFile& file,
                         const std::vector<std::span<const std::byte>>& values) {
  FileContents contents{.tensors = {}, .facts = file.facts, .counters = file.counters};
  for (const PlannedTensor& planned : file.tensors) {
    contents.tensors.push_back({planned.tensor, planned.rows, values[planned.share]});
  }
  return contents;
}

}  // namespace rota::checkpoint
