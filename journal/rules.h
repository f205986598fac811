// Rules: the steps of the protocol that can be left out by name. A journal with a rule left out is
// a mutant: it exists so that a crash tester has something that must be found. docs/mutants.md says
// for each what leaving it out costs and which kind of fault shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "journal/format.h"

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
  kAcceptReferencesInTail,  // J.2, first
  kSyncAdoptedBodies,       // J.2, second
  kSyncBodiesBeforePublish,
  kSyncLinksBeforePublish,
  kPublishMetadataTwice,  // H.16
  kCancelReclaimOnReuse,  // H.9, links
  kReclaimPastFailures,   // J.1
  kReclaimOffAppend,
  kRewriteAfterFailedBarrier,  // H.10
  kSyncOriginalWriters,        // H.11
  kValidateAtAppend,           // J.3
  kSyncBackupBeforeRecovery,
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
  static constexpr std::uint64_t Bit(Rule rule) { return 1ULL << static_cast<unsigned>(rule); }

  std::uint64_t off_ = 0;
};

// Whole protocols: a format with a magic of its own, and the rules it follows. None opens the
// journal of another.
enum class Protocol : std::uint8_t {
  kTornfs,     // Two slots, every rule.
  kReference,  // Two slots, as they were first published elsewhere: without any later repair.
  kRename,     // What came before: one slot, replaced by a rename at each publication.
};

struct ProtocolName {
  Protocol protocol;
  std::string_view name;  // What --protocol takes.
  Magic magic;
};

[[nodiscard]] std::span<const ProtocolName> AllProtocols();
[[nodiscard]] std::optional<Protocol> ParseProtocol(std::string_view name);
[[nodiscard]] const Magic& MagicOf(Protocol protocol);
[[nodiscard]] Rules RulesOf(Protocol protocol);

}  // namespace tornfs::journal
