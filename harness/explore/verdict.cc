#include "harness/explore/verdict.h"

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "harness/cli.h"

namespace tornfs::harness {
namespace {

// More than anybody reads of a check's output.
constexpr std::size_t kMaxTitle = 200;
constexpr std::size_t kMaxOutput = 1U << 20;

std::string HowItEnded(const std::string& phase, const RunResult& result) {
  if (result.report.stage != SpawnStage::kStarted) {
    return phase + " could not be started: " + std::strerror(result.report.stage_errno);
  }
  if (WIFSIGNALED(result.report.wait_status)) {
    return phase + " was killed by signal " + std::to_string(WTERMSIG(result.report.wait_status));
  }
  return phase + " exited with " + std::to_string(result.status());
}

Verdict Describe(std::string phase, const RunResult& result) {
  Verdict verdict;
  verdict.phase = std::move(phase);
  verdict.status = result.status();
  verdict.stragglers = result.report.stragglers;
  verdict.output = (result.output + result.error).substr(0, kMaxOutput);
  verdict.title = PlainLine(result.output);
  if (verdict.title.empty()) verdict.title = PlainLine(result.error);
  if (verdict.title.empty()) verdict.title = HowItEnded(verdict.phase, result);
  if (result.timed_out) verdict.title = "hang";
  return verdict;
}

}  // namespace

std::string PlainLine(const std::string& text) {
  std::string line = text.substr(0, std::min(text.find('\n'), kMaxTitle));
  for (char& c : line) {
    if (c < ' ' || c > '~') c = '?';
  }
  return line;
}

std::string Verdict::Signature() const {
  std::string signature = phase + ":" + std::to_string(status) + ":";
  bool in_number = false;
  for (const char c : title) {
    // Hex digits next to a digit count as one number, so a checksum does not make a new finding.
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool part = digit || (in_number && std::isxdigit(static_cast<unsigned char>(c)) != 0);
    if (part && !in_number) {
      while (!signature.empty() &&
             std::isxdigit(static_cast<unsigned char>(signature.back())) != 0 &&
             signature.back() != ':') {
        signature.pop_back();
      }
      signature += '#';
    }
    if (!part) signature += c;
    in_number = part;
  }
  return signature;
}

Verdict JudgeCheck(const RunResult& result) {
  Verdict verdict = Describe("check", result);
  if (result.timed_out) {
    verdict.judgement = Judgement::kViolation;
  } else if (result.report.stage != SpawnStage::kStarted || verdict.status == kExitToolFailed) {
    verdict.judgement = Judgement::kCannotJudge;
  } else if (verdict.status == kExitMissing) {
    verdict.judgement = Judgement::kNotApplicable;
  } else if (verdict.status != 0) {
    verdict.judgement = Judgement::kViolation;
  }
  return verdict;
}

Verdict JudgeRecovery(const RunResult& result) {
  Verdict verdict = Describe("recovery", result);
  if (result.report.stage != SpawnStage::kStarted) {
    verdict.judgement = Judgement::kCannotJudge;
  } else if (result.timed_out || verdict.status != 0) {
    verdict.judgement = Judgement::kViolation;
  }
  return verdict;
}

}  // namespace tornfs::harness
