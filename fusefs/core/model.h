// Model: a persistence model, as data. It answers two questions for the engine and for windows:
// what does an op or a barrier make durable, and which effects may only survive together or in
// order?
//
// A model is a set of rules. Each rule is a question with a few possible answers; what the answers
// mean is written once, in model_rules.cc, and read by `tornfs models` and by docs/crash-models.md.
// A model file (fusefs/models/*.model, or a user's own by --model FILE) gives some rules other
// answers than those of the weakest simple model, `posix`, each with a tag that says where the
// knowledge comes from. The files of fusefs/models are part of the program.
//
// Threads: Models and FindModel may be called from one thread at a time. A model that was found
// stays as long as the process.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fusefs/core/effect.h"

namespace tornfs {

// The rules, by name in model files: `order`, `names`, `sizes`, ...
enum class Rule : std::uint8_t {
  kOrder,
  kNames,
  kSizes,
  kAttributes,
  kFsync,
  kFdatasync,
  kRename,
  kCrossRename,
  kTruncate,
  kTruncatedTail,
  kSizeAfter,
  kSizeSteps,
  kSizeOrder,
  kData,
  kFreshUnit,
  kOverwrite,
  kFresh,
  kReuse,
  kReplace,
  kLoggedNames,
  kLostReplacement,
  kTearing,
};
inline constexpr std::size_t kRules = static_cast<std::size_t>(Rule::kTearing) + 1;

// The answers to each rule, in the order of model_rules.cc. The first is that of `posix`.
enum class Order : std::uint8_t { kNone, kJournal, kCalls };
enum class Durable : std::uint8_t { kBarrier, kAtOnce };
enum class FsyncScope : std::uint8_t { kSelf, kNames, kLastName, kJournal };
enum class FdatasyncScope : std::uint8_t { kData, kDataAndNewName, kAsFsync };
enum class Splitting : std::uint8_t { kWhole, kSplit };
enum class CrossRename : std::uint8_t { kBothNames, kNewName };
enum class TruncatedTail : std::uint8_t { kFree, kFirst, kLast, kWhole };
enum class SizeAfter : std::uint8_t { kNothing, kTail, kFresh, kTailAndFresh, kData };
enum class SizeSteps : std::uint8_t { kPart, kTail, kCall, kPage, kTwoPages };
enum class SizeOrder : std::uint8_t { kFree, kJournal };
enum class DataPlace : std::uint8_t { kInPlace, kJournal };
enum class FreshUnit : std::uint8_t { kPage, kTwoPages, kCall };
enum class Overwrite : std::uint8_t { kUnit, kCall };
enum class Fresh : std::uint8_t { kZeroed, kStale };
enum class Reuse : std::uint8_t { kAfterCommit, kAtOnce };
enum class Replace : std::uint8_t { kNothing, kSize, kData, kOldData };
enum class LoggedNames : std::uint8_t { kOrdered, kFree };
enum class LostReplacement : std::uint8_t { kNo, kMay, kMust };
enum class Tearing : std::uint8_t { kAsAsked, kNone };

// Where the knowledge of a rule comes from.
enum class Evidence : std::uint8_t {
  kGuaranteed,  // By a standard, or by definition of the model.
  kMeasured,    // Seen on real kernels.
  kDocumented,  // Said by the documentation or by maintainers.
  kHeuristic,   // A best guess, or what usually happens.
};

// How small a piece of a write can survive by itself.
enum class Tear : std::uint8_t {
  kNone,    // A write(2) survives whole or not at all.
  kPage,    // The data cell is a page of 4096 bytes.
  kSector,  // The data cell is a sector of 512 bytes.
  kByte,    // As kPage, and each lost page may hold any prefix of what was written to it.
};

// One rule as a model has it.
struct RuleSetting {
  std::uint8_t answer = 0;
  Evidence evidence = Evidence::kGuaranteed;
  std::string why;  // One paragraph; empty where the model says nothing.
};

struct Model {
  std::string name;
  std::string about;   // One sentence.
  std::string source;  // The file's text.
  int rank = 0;        // Weaker models have lower ones.
  std::array<RuleSetting, kRules> rules;

  [[nodiscard]] const RuleSetting& At(Rule rule) const {
    return rules[static_cast<std::size_t>(rule)];
  }
  [[nodiscard]] Order order() const { return Get<Order>(Rule::kOrder); }
  [[nodiscard]] FsyncScope fsync() const { return Get<FsyncScope>(Rule::kFsync); }
  [[nodiscard]] FdatasyncScope fdatasync() const { return Get<FdatasyncScope>(Rule::kFdatasync); }
  [[nodiscard]] CrossRename cross_rename() const { return Get<CrossRename>(Rule::kCrossRename); }
  [[nodiscard]] TruncatedTail truncated_tail() const {
    return Get<TruncatedTail>(Rule::kTruncatedTail);
  }
  [[nodiscard]] SizeAfter size_after() const { return Get<SizeAfter>(Rule::kSizeAfter); }
  [[nodiscard]] SizeSteps size_steps() const { return Get<SizeSteps>(Rule::kSizeSteps); }
  [[nodiscard]] bool sizes_in_journal() const {
    return Get<SizeOrder>(Rule::kSizeOrder) == SizeOrder::kJournal;
  }
  [[nodiscard]] bool data_in_journal() const {
    return Get<DataPlace>(Rule::kData) == DataPlace::kJournal;
  }
  [[nodiscard]] FreshUnit fresh_unit() const { return Get<FreshUnit>(Rule::kFreshUnit); }
  [[nodiscard]] Overwrite overwrite() const { return Get<Overwrite>(Rule::kOverwrite); }
  [[nodiscard]] bool stale() const { return Get<Fresh>(Rule::kFresh) == Fresh::kStale; }
  [[nodiscard]] bool reuse() const { return Get<Reuse>(Rule::kReuse) == Reuse::kAtOnce; }
  [[nodiscard]] Replace replace() const { return Get<Replace>(Rule::kReplace); }
  [[nodiscard]] LoggedNames logged_names() const { return Get<LoggedNames>(Rule::kLoggedNames); }
  [[nodiscard]] LostReplacement lost_replacement() const {
    return Get<LostReplacement>(Rule::kLostReplacement);
  }

  [[nodiscard]] bool AtOnce(CellKind kind) const;
  [[nodiscard]] bool Whole(GroupTag group) const;
  // The tearing that results from what the user asked for and what the model allows.
  [[nodiscard]] Tear Effective(Tear asked) const {
    return Get<Tearing>(Rule::kTearing) == Tearing::kNone ? Tear::kNone : asked;
  }
  // True if a barrier of `kind` on `effect.ino` asks for `effect`. What other inodes' effects it
  // asks for, and what order and groups add, is in pending.cc.
  [[nodiscard]] bool Covers(OpKind barrier, const Effect& effect) const;

 private:
  template <class Answer>
  [[nodiscard]] Answer Get(Rule rule) const {
    return static_cast<Answer>(At(rule).answer);
  }
};

// Every built-in model, weakest first.
[[nodiscard]] std::span<const Model> Models();

// The built-in model called `name`; or, if `name` has a slash or ends in ".model", the model in the
// file of that name.
// Errors: kInvalid, with the known names or the faulty line in the text; kIo for a file that cannot
// be read.
[[nodiscard]] Result<const Model*> FindModel(std::string_view name);

// The model that `text` describes; `origin` is what errors call it.
// Errors: kInvalid, with the line in the text.
[[nodiscard]] Result<const Model*> AddModel(std::string_view text, std::string_view origin);

[[nodiscard]] std::string_view TearName(Tear tear);
// Errors: kInvalid, with the known names in the text.
[[nodiscard]] Result<Tear> ParseTear(std::string_view text);

}  // namespace tornfs
