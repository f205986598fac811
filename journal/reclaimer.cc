#include "journal/reclaimer.h"

#include <algorithm>

#include "common/log.h"

namespace tornfs::journal {
namespace {

// Where reclaim-past-failures is left out: a pass ends with the first batch that fails whole.
constexpr std::size_t kBatch = 16;

}  // namespace

void Reclaimer::Cancel(const std::string& name) {
  if (rules_.On(Rule::kCancelReclaimOnReuse)) std::erase(names_, name);
}

void Reclaimer::Run() {
  const bool stubborn = rules_.On(Rule::kReclaimPastFailures);
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!stubborn && kept.size() == kBatch && i == kBatch) {
      kept.insert(kept.end(), names_.begin() + static_cast<std::ptrdiff_t>(i), names_.end());
      break;
    }
    const auto removed = storage_.Unlink(names_[i]);
    if (removed || IsMissing(removed.error())) {
      unsynced_ = true;
    } else {
      LogWarning("journal: " + removed.error().Message());
      kept.push_back(names_[i]);
    }
  }
  names_ = std::move(kept);
  if (!unsynced_) return;
  const auto synced = storage_.SyncDirectory();
  if (synced) {
    unsynced_ = false;
  } else {
    LogWarning("journal: " + synced.error().Message());
  }
}

}  // namespace tornfs::journal
