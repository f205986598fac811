// Rules: the steps of the protocol that can be left out by name. A journal with a rule left out is
// a mutant: it exists so that a crash tester has something that must be found. docs/mutants.md says
// for each what leaving it out costs and which kind of fault shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tornfs::journal {

enum class Rule : std::uint8_t {
  kSyncFrontierAtOpen,           // H.1
  kSyncOutgoingBeforeRewrite,    // H.2
  kRepublishDamagedSlot,         // H.3
  kIgnoreCapacityAtRecovery,     // H.4
  kSyncDirectoryBeforeFrontier,  // H.5
  kRefuseShortFrontier,          // H.6
  kPublishTwiceAfterRewrite,     // H.7
  kNextGenerationAboveDisk,      // H.9
  kLockDirectory,                // H.12
  kCheckSlotRedundancy,          // H.13
  kReadSlotsSeparately,          // H.14
  kVerifyBeforeInstall,          // H.15
  kSyncRecordsBeforePublish,
  kSyncFrontierOnPublish,
  kSyncDirectoryAfterRename,
  kSyncDirectoryBeforePublish,
  kSyncDirectoryAtOpen,
  kVerifyTailChain,
};

struct RuleName {
  Rule rule;
  std::string_view name;     // What --without takes.
  std::string_view meaning;  // One line for --help.
};

// Every rule once, in the order of the enum.
[[nodiscard]] std::span<const RuleName> AllRules();
[[nodiscard]] std::optional<Rule> ParseRule(std::string_view name);

// The rules in force. All of them, unless switched off.
class Rules {
 public:
  [[nodiscard]] bool On(Rule rule) const { return (off_ & Bit(rule)) == 0; }
  void SwitchOff(Rule rule) { off_ |= Bit(rule); }

 private:
  static constexpr std::uint32_t Bit(Rule rule) { return 1U << static_cast<unsigned>(rule); }

  std::uint32_t off_ = 0;
};

}  // namespace tornfs::journal
