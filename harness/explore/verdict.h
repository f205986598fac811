// Verdict: what recovery and check said of one crash state.
#pragma once

#include <cstdint>
#include <string>

#include "harness/explore/stage.h"

namespace tornfs::harness {

enum class Judgement : std::uint8_t {
  kGood,
  kNotApplicable,  // The check said 77.
  kCannotJudge,    // The check said 125, or could not be started.
  kViolation,
};

struct Verdict {
  Judgement judgement = Judgement::kGood;
  std::string phase;   // "recovery", "check" or "oracle": who said so.
  int status = 0;      // As a shell shows it.
  std::string title;   // First line of what it printed; "hang"; or how it ended.
  std::string output;  // All it printed, standard output and error.
  std::uint32_t stragglers = 0;

  [[nodiscard]] bool good() const {
    return judgement == Judgement::kGood || judgement == Judgement::kNotApplicable;
  }
  // Equal for findings that are the same to a person: phase, status and title with every number in
  // it replaced by '#'.
  [[nodiscard]] std::string Signature() const;
};

// `text` up to its first newline, cut where nobody reads on, with what is not plain text replaced
// by
// '?': what a title is made of.
[[nodiscard]] std::string PlainLine(const std::string& text);

// What a check's run means: 0 good, 77 not applicable, 125 cannot judge, anything else, a signal
// and a timeout a violation.
[[nodiscard]] Verdict JudgeCheck(const RunResult& result);
// What a recovery's run means: anything but 0 is a violation.
[[nodiscard]] Verdict JudgeRecovery(const RunResult& result);

}  // namespace tornfs::harness
