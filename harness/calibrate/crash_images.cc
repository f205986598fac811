#include "harness/calibrate/crash_images.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <utility>

#include "common/check.h"
#include "common/rng.h"

namespace tornfs::harness {
namespace {

constexpr std::size_t kSector = DeviceImage::kSectorBytes;
constexpr std::size_t kAllMost = 6;
// Random choices are given up when so many in a row were known.
constexpr int kFruitlessMost = 64;

// Contents of sectors by number, as hashes.
using Sectors = std::unordered_map<std::uint64_t, std::uint64_t>;

// What one sector adds to the digest of an image.
Digest Part(std::uint64_t sector, std::uint64_t content) {
  return Mix(Digest{sector, 0x5ec7}, content);
}

struct Window {
  std::vector<std::size_t> durable;   // Events, in order.
  std::vector<std::size_t> optional;  // Events, in order.
  std::uint64_t from = 0;             // The flush that begins it has completed.
  std::uint64_t until = 0;            // The flush that ends it has not.
};

class Planner {
 public:
  Planner(const Recording& recording, const Filesystem& filesystem, const ImageLimits& limits)
      : recording_(recording), filesystem_(filesystem), limits_(limits), rng_(limits.seed) {
    HashWrites();
    FindWindows();
  }

  CrashImages Plan() {
    for (const Window& window : windows_) AddSystematic(window);
    Sample();
    // Random ones only where there is room left.
    int fruitless = 0;
    while (found_.images.size() < limits_.images && fruitless < kFruitlessMost) {
      const Window& window = windows_[rng_.Below(windows_.size())];
      fruitless = AddRandom(window) ? 0 : fruitless + 1;
    }
    found_.windows = windows_.size();
    return std::move(found_);
  }

 private:
  // Where a write may be torn: units of sectors, each [first, first + count).
  std::vector<std::size_t> UnitsOf(const IoEvent& event) const {
    std::vector<std::size_t> begins;
    const std::size_t sectors = event.data.size() / kSector;
    constexpr std::size_t kPerBlock = DeviceImage::kBlockBytes / kSector;
    for (std::size_t i = 0; i < sectors; ++i) {
      const std::uint64_t at = event.offset + i * kSector;
      const std::size_t inside = at / kSector % kPerBlock;
      const std::size_t first = i - std::min(i, inside);
      const bool whole =
          (at >= filesystem_.superblock_begin && at < filesystem_.superblock_end) ||
          (!limits_.data_in_sectors &&
           IsData(std::span(event.data)
                      .subspan(
                          first * kSector,
                          std::min(kPerBlock - inside + (i - first), sectors - first) * kSector)));
      if (!whole || i == first) begins.push_back(i);
    }
    return begins;
  }

  // Letters and NULs, as programs write them.
  static bool IsData(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) {
      const auto value = static_cast<unsigned char>(byte);
      return value == 0 || std::isalpha(value) != 0;
    });
  }

  // Sectors of a write by units: those whose unit is in `kept`.
  static std::vector<bool> SectorsOfUnits(const std::vector<std::size_t>& begins,
                                          std::size_t sectors, const std::vector<bool>& kept) {
    std::vector<bool> chosen(sectors, false);
    for (std::size_t unit = 0; unit < begins.size(); ++unit) {
      const std::size_t end = unit + 1 < begins.size() ? begins[unit + 1] : sectors;
      for (std::size_t i = begins[unit]; i < end; ++i) chosen[i] = kept[unit];
    }
    return chosen;
  }

  void HashWrites() {
    std::vector<std::byte> old(kSector);
    hashes_.resize(recording_.log.size());
    units_.resize(recording_.log.size());
    for (std::size_t i = 0; i < recording_.log.size(); ++i) {
      const IoEvent& event = recording_.log[i];
      if (event.kind != IoEvent::Kind::kWrite) continue;
      CHECK(event.offset % kSector == 0 && event.data.size() % kSector == 0);
      units_[i] = UnitsOf(event);
      for (std::size_t at = 0; at < event.data.size(); at += kSector) {
        hashes_[i].push_back(Hash64(std::span(event.data).subspan(at, kSector)));
        const std::uint64_t sector = (event.offset + at) / kSector;
        if (base_.contains(sector)) continue;
        recording_.base.Read(sector * kSector, old);
        base_[sector] = Hash64(old);
      }
    }
  }

  // Maximal sets: nothing is gained by a crash earlier in a window.
  void FindWindows() {
    const IoLog& log = recording_.log;
    std::vector<std::size_t> flushes;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (log[i].kind == IoEvent::Kind::kFlush) flushes.push_back(i);
    }
    for (std::size_t w = 0; w <= flushes.size(); ++w) {
      const IoEvent* begin = w == 0 ? nullptr : &log[flushes[w - 1]];
      const IoEvent* end = w == flushes.size() ? nullptr : &log[flushes[w]];
      Window window;
      window.from = begin == nullptr ? 0 : begin->completed;
      window.until = end == nullptr ? IoEvent::kNever : end->completed;
      for (std::size_t i = 0; i < log.size(); ++i) {
        if (log[i].kind != IoEvent::Kind::kWrite || log[i].issued >= window.until) continue;
        const bool durable = begin != nullptr && log[i].completed < begin->issued;
        (durable ? window.durable : window.optional).push_back(i);
      }
      windows_.push_back(std::move(window));
    }
  }

  void AddSystematic(const Window& window) {
    const std::size_t count = window.optional.size();
    std::vector<bool> set(count, false);
    Add(window, set);
    if (count <= kAllMost) {
      for (std::uint64_t bits = 1; bits < std::uint64_t{1} << count; ++bits) {
        for (std::size_t i = 0; i < count; ++i) set[i] = (bits >> i & 1) != 0;
        Add(window, set);
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        set[i] = true;
        Add(window, set);
      }
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<bool> one(count, false);
        one[i] = true;
        Add(window, one);
        one.flip();
        Add(window, one);
      }
    }
    // Torn: the last write of a prefix stops after some sectors, or comes without its first ones.
    std::fill(set.begin(), set.end(), false);
    for (std::size_t i = 0; i < count; ++i) {
      set[i] = true;
      const std::size_t sectors = hashes_[window.optional[i]].size();
      const std::vector<std::size_t>& units = units_[window.optional[i]];
      if (units.size() < 2) continue;
      for (const std::size_t cut : {std::size_t{1}, units.size() / 2, units.size() - 1}) {
        std::vector<bool> head(units.size(), false);
        std::fill_n(head.begin(), static_cast<std::ptrdiff_t>(cut), true);
        Add(window, set, i, SectorsOfUnits(units, sectors, head));
        head.flip();
        Add(window, set, i, SectorsOfUnits(units, sectors, head));
      }
    }
  }

  bool AddRandom(const Window& window) {
    const std::size_t count = window.optional.size();
    if (count == 0) return false;
    const double share = rng_.Unit();
    std::vector<bool> set(count);
    for (std::size_t i = 0; i < count; ++i) set[i] = rng_.Unit() < share;
    if (rng_.Below(2) == 0) return Add(window, set);
    const std::size_t torn = rng_.Below(count);
    set[torn] = true;
    const std::vector<std::size_t>& units = units_[window.optional[torn]];
    std::vector<bool> kept(units.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = rng_.Below(2) == 0;
    // Torn to nothing is lost.
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) {
      set[torn] = false;
      return Add(window, set);
    }
    return Add(window, set, torn,
               SectorsOfUnits(units, hashes_[window.optional[torn]].size(), kept));
  }

  // Adds the image of a window's optional writes in `set`, of which the one numbered `torn` has
  // only `sectors`. Returns whether it is a new one.
  bool Add(const Window& window, const std::vector<bool>& set, std::size_t torn = SIZE_MAX,
           std::vector<bool> sectors = {}) {
    CrashImage image;
    std::uint64_t last_issued = window.from;
    for (const std::size_t event : window.durable) image.writes.push_back({event, {}});
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (!set[i]) continue;
      const std::size_t event = window.optional[i];
      last_issued = std::max(last_issued, recording_.log[event].issued);
      image.writes.push_back({event, {}});
      if (i != torn) continue;
      image.writes.back().sectors = std::move(sectors);
      image.torn = true;
    }
    std::sort(image.writes.begin(), image.writes.end(),
              [](const ChosenWrite& a, const ChosenWrite& b) { return a.event < b.event; });
    image.digest = DigestOf(image);
    const Moments moments = MomentsOf(last_issued, window.until);
    const auto [known, added] = known_.try_emplace(image.digest, found_.images.size());
    if (added) {
      image.moments.push_back(moments);
      found_.images.push_back(std::move(image));
      return true;
    }
    ++found_.equal;
    std::vector<Moments>& all = found_.images[known->second].moments;
    if (std::find(all.begin(), all.end(), moments) == all.end()) all.push_back(moments);
    return false;
  }

  Digest DigestOf(const CrashImage& image) const {
    Sectors now;
    for (const ChosenWrite& write : image.writes) {
      const std::uint64_t first = recording_.log[write.event].offset / kSector;
      const std::vector<std::uint64_t>& hashes = hashes_[write.event];
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        if (write.sectors.empty() || write.sectors[i]) now[first + i] = hashes[i];
      }
    }
    Digest digest;
    for (const auto& [sector, content] : now) {
      if (base_.at(sector) != content) digest += Part(sector, content);
    }
    return digest;
  }

  // A crash after `from`, and before `until`.
  Moments MomentsOf(std::uint64_t from, std::uint64_t until) const {
    Moments moments;
    for (const IoEvent& event : recording_.log) {
      if (event.kind != IoEvent::Kind::kMark) continue;
      const std::size_t step = event.mark / 2;
      if (event.mark % 2 == 0) {
        if (event.issued <= from) moments.first_begun = step + 1;
        if (event.issued < until) moments.last_begun = step + 1;
      } else if (event.issued < until) {
        moments.last_ended = step + 1;
      }
    }
    return moments;
  }

  // Keeps limits_.images of what was found: whole ones before torn ones, and of each kind a random
  // choice.
  void Sample() {
    std::vector<CrashImage>& all = found_.images;
    if (all.size() <= limits_.images) return;
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t torn = all[i].torn ? 1 : 0;
      order.emplace_back(torn << 63 | rng_.Next() >> 1, i);
    }
    std::sort(order.begin(), order.end());
    // A quarter of the room is for torn ones.
    const auto whole = static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const CrashImage& image) { return !image.torn; }));
    const std::size_t torn_room = std::min(limits_.images / 4, all.size() - whole);
    std::vector<CrashImage> kept;
    for (std::size_t i = 0; i < order.size() && kept.size() < limits_.images; ++i) {
      const bool torn = i >= whole;
      if (!torn && i >= limits_.images - torn_room) continue;
      kept.push_back(std::move(all[order[i].second]));
    }
    all = std::move(kept);
    known_.clear();
    for (std::size_t i = 0; i < all.size(); ++i) known_[all[i].digest] = i;
  }

  const Recording& recording_;
  const Filesystem& filesystem_;
  ImageLimits limits_;
  Rng rng_;
  std::vector<std::vector<std::size_t>> units_;     // Per event: first sectors of its units.
  std::vector<std::vector<std::uint64_t>> hashes_;  // Per event, per sector.
  Sectors base_;                                    // Of every sector that is ever written.
  std::vector<Window> windows_;
  std::unordered_map<Digest, std::size_t> known_;
  CrashImages found_;
};

}  // namespace

CrashImages PlanCrashImages(const Recording& recording, const Filesystem& filesystem,
                            const ImageLimits& limits) {
  return Planner(recording, filesystem, limits).Plan();
}

DeviceImage BuildImage(const Recording& recording, const CrashImage& image) {
  DeviceImage device = recording.base;
  for (const ChosenWrite& write : image.writes) {
    const IoEvent& event = recording.log[write.event];
    if (write.sectors.empty()) {
      device.Write(event.offset, event.data);
      continue;
    }
    for (std::size_t i = 0; i < write.sectors.size(); ++i) {
      if (!write.sectors[i]) continue;
      device.Write(event.offset + i * kSector, std::span(event.data).subspan(i * kSector, kSector));
    }
  }
  return device;
}

}  // namespace tornfs::harness
