// A rank's side of a talk with a server of PMI-1, as MPICH's launcher and Slurm's plug-in pmi2 have
// it: from the lines of the server to the rank's next line. Has no socket and no clock.
//
// Each side sends lines of words such as "cmd=put kvsname=kvs_1 key=x value=y". The rank asks, and
// the server answers each question with one line.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rota::stores {

class PmiTalk {
 public:
  // A longer line is an error: no answer that this talk expects is as long.
  static constexpr std::size_t kMostLineBytes = 4096;

  // Rank 0 gives its word to the others, which pass no word.
  explicit PmiTalk(std::optional<std::string> own_word);
  // Overwrites the word, and the lines that had it.
  ~PmiTalk();
  PmiTalk(const PmiTalk&) = delete;
  PmiTalk& operator=(const PmiTalk&) = delete;

  // Returns the bytes to send next, and forgets them.
  std::string take_output();

  // Takes the bytes that have arrived, whole lines or not. Throws Error kBadData, with the line, if
  // a line is not the answer to the last question; kSystem if the server refuses.
  void receive(std::string_view bytes);

  bool is_done() const noexcept { return step_ == Step::kDone; }

  // Returns rank 0's word. Requires is_done().
  const std::string& word() const noexcept { return word_; }

  // Returns what the talk waits for, for an error text: "the other ranks", "an answer to cmd=init".
  std::string awaited() const;

 private:
  // The question that is not answered yet.
  enum class Step { kInit, kMaxes, kName, kPut, kBarrier, kGet, kFinalize, kDone };

  void ask(Step step);
  void on_line(std::string_view line);
  void on_answer(std::string_view line);
  void require_room(std::string_view line) const;

  Step step_ = Step::kInit;
  bool is_first_;
  std::string word_;
  std::string store_name_;
  std::string in_;  // Bytes of a line that is not complete yet.
  std::string out_;
};

}  // namespace rota::stores
