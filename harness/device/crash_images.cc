#include "harness/device/crash_images.h"

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

bool IsDurable(const IoEvent& event, const IoEvent* flush) {
  return event.kind == IoEvent::Kind::kWrite && flush != nullptr && event.completed < flush->issued;
}

const IoEvent* FlushOf(const DeviceRecording& recording, std::size_t flush) {
  return flush == kNoFlush ? nullptr : &recording.log[flush];
}

// What one sector adds to the digest of an image.
Digest Part(std::uint64_t sector, std::uint64_t content) {
  return Mix(Digest{sector, 0x5ec7}, content);
}

struct Window {
  std::size_t flush = kNoFlush;  // Event that begins it.
  std::uint64_t from = 0;        // That flush has completed.
  std::uint64_t until = 0;       // What ends it has not.
};

// The durable content of a sector that was written, and the event that wrote it.
struct DurableSector {
  std::size_t event = 0;
  std::uint64_t content = 0;
};

class Planner {
 public:
  Planner(const DeviceRecording& recording, const Filesystem& filesystem, const ImageLimits& limits)
      : recording_(recording), filesystem_(filesystem), limits_(limits), rng_(limits.seed) {
    HashWrites();
    FindWindows();
  }

  CrashImages Plan() {
    for (std::size_t window = 0; window < windows_.size(); ++window) {
      Open(window);
      AddSystematic();
    }
    Sample();
    // Random ones only where there is room left.
    int fruitless = 0;
    while (found_.images.size() < limits_.images && fruitless < kFruitlessMost) {
      Open(rng_.Below(windows_.size()));
      fruitless = AddRandom() ? 0 : fruitless + 1;
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

  // A window ends with each flush, with each mark if that is wanted, and with the log.
  void FindWindows() {
    Window window;
    const auto end = [&](std::uint64_t until) {
      window.until = until;
      windows_.push_back(window);
    };
    for (std::size_t i = 0; i < recording_.log.size(); ++i) {
      const IoEvent& event = recording_.log[i];
      if (event.kind == IoEvent::Kind::kMark && limits_.at_marks) end(event.issued);
      if (event.kind != IoEvent::Kind::kFlush) continue;
      end(event.completed);
      window.flush = i;
      window.from = event.completed;
    }
    end(IoEvent::kNever);
    // Each gives an image at least.
    while (windows_.size() > limits_.images) {
      windows_.erase(windows_.begin() + static_cast<std::ptrdiff_t>(rng_.Below(windows_.size())));
    }
  }

  // Makes the window of that number the one that choices are made in.
  void Open(std::size_t number) {
    if (open_ == number) return;
    open_ = number;
    const Window& window = windows_[number];
    const IoEvent* flush = FlushOf(recording_, window.flush);
    optional_.clear();
    durable_.clear();
    durable_digest_ = Digest();
    for (std::size_t i = 0; i < recording_.log.size(); ++i) {
      const IoEvent& event = recording_.log[i];
      if (event.kind != IoEvent::Kind::kWrite || event.issued >= window.until) continue;
      if (!IsDurable(event, flush)) {
        optional_.push_back(i);
        continue;
      }
      const std::uint64_t first = event.offset / kSector;
      for (std::size_t k = 0; k < hashes_[i].size(); ++k) durable_[first + k] = {i, hashes_[i][k]};
    }
    for (const auto& [sector, now] : durable_) AddSector(sector, now.content, durable_digest_);
  }

  // What a sector of that content adds to the digest of an image.
  void AddSector(std::uint64_t sector, std::uint64_t content, Digest& digest) const {
    if (base_.at(sector) != content) digest += Part(sector, content);
  }

  void AddSystematic() {
    const std::size_t count = optional_.size();
    std::vector<bool> set(count, false);
    Add(set);
    if (count <= kAllMost) {
      for (std::uint64_t bits = 1; bits < std::uint64_t{1} << count; ++bits) {
        for (std::size_t i = 0; i < count; ++i) set[i] = (bits >> i & 1) != 0;
        Add(set);
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        set[i] = true;
        Add(set);
      }
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<bool> one(count, false);
        one[i] = true;
        Add(one);
        one.flip();
        Add(one);
      }
    }
    // Torn: the last write of a prefix stops after some sectors, or comes without its first ones.
    std::fill(set.begin(), set.end(), false);
    for (std::size_t i = 0; i < count; ++i) {
      set[i] = true;
      const std::size_t sectors = hashes_[optional_[i]].size();
      const std::vector<std::size_t>& units = units_[optional_[i]];
      if (units.size() < 2) continue;
      for (const std::size_t cut : {std::size_t{1}, units.size() / 2, units.size() - 1}) {
        std::vector<bool> head(units.size(), false);
        std::fill_n(head.begin(), static_cast<std::ptrdiff_t>(cut), true);
        Add(set, i, SectorsOfUnits(units, sectors, head));
        head.flip();
        Add(set, i, SectorsOfUnits(units, sectors, head));
      }
    }
  }

  bool AddRandom() {
    const std::size_t count = optional_.size();
    if (count == 0) return false;
    const double share = rng_.Unit();
    std::vector<bool> set(count);
    for (std::size_t i = 0; i < count; ++i) set[i] = rng_.Unit() < share;
    if (rng_.Below(2) == 0) return Add(set);
    const std::size_t torn = rng_.Below(count);
    set[torn] = true;
    const std::vector<std::size_t>& units = units_[optional_[torn]];
    std::vector<bool> kept(units.size());
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = rng_.Below(2) == 0;
    // Torn to nothing is lost.
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) {
      set[torn] = false;
      return Add(set);
    }
    return Add(set, torn, SectorsOfUnits(units, hashes_[optional_[torn]].size(), kept));
  }

  // Adds the image of the open window's optional writes in `set`, of which the one numbered `torn`
  // has only `sectors`. Returns whether it is a new one.
  bool Add(const std::vector<bool>& set, std::size_t torn = SIZE_MAX,
           std::vector<bool> sectors = {}) {
    const Window& window = windows_[open_];
    CrashImage image;
    image.flush = window.flush;
    image.until = window.until;
    std::uint64_t last_issued = window.from;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (!set[i]) continue;
      const std::size_t event = optional_[i];
      last_issued = std::max(last_issued, recording_.log[event].issued);
      image.writes.push_back({event, {}});
      if (i != torn) continue;
      image.writes.back().sectors = std::move(sectors);
      image.torn = true;
    }
    image.digest = DigestOf(image);
    const Moments moments = MomentsOf(last_issued, window.until);
    const auto [known, added] =
        known_.try_emplace(KeyOf(image.digest, moments), found_.images.size());
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

  // What makes two images one.
  Digest KeyOf(const Digest& content, const Moments& moments) const {
    return limits_.at_marks ? Mix(content, moments.last_ended) : content;
  }

  // Of an image of the open window. A durable write that was issued later than an optional one lies
  // over it.
  Digest DigestOf(const CrashImage& image) const {
    Sectors over;
    for (const ChosenWrite& write : image.writes) {
      const std::uint64_t first = recording_.log[write.event].offset / kSector;
      const std::vector<std::uint64_t>& hashes = hashes_[write.event];
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        if (!write.sectors.empty() && !write.sectors[i]) continue;
        const auto under = durable_.find(first + i);
        if (under == durable_.end() || under->second.event < write.event) {
          over[first + i] = hashes[i];
        }
      }
    }
    Digest digest = durable_digest_;
    Digest covered;
    for (const auto& [sector, content] : over) {
      const auto under = durable_.find(sector);
      if (under != durable_.end()) AddSector(sector, under->second.content, covered);
      AddSector(sector, content, digest);
    }
    digest -= covered;
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
    for (std::size_t i = 0; i < all.size(); ++i) {
      known_[KeyOf(all[i].digest, all[i].moments.front())] = i;
    }
  }

  const DeviceRecording& recording_;
  const Filesystem& filesystem_;
  ImageLimits limits_;
  Rng rng_;
  std::vector<std::vector<std::size_t>> units_;     // Per event: first sectors of its units.
  std::vector<std::vector<std::uint64_t>> hashes_;  // Per event, per sector.
  Sectors base_;                                    // Of every sector that is ever written.
  std::vector<Window> windows_;
  std::size_t open_ = SIZE_MAX;        // Number of a window, and what belongs to it:
  std::vector<std::size_t> optional_;  // events, in order,
  std::unordered_map<std::uint64_t, DurableSector> durable_;
  Digest durable_digest_;
  std::unordered_map<Digest, std::size_t> known_;
  CrashImages found_;
};

}  // namespace

CrashImages PlanCrashImages(const DeviceRecording& recording, const Filesystem& filesystem,
                            const ImageLimits& limits) {
  return Planner(recording, filesystem, limits).Plan();
}

std::vector<ChosenWrite> WritesOf(const DeviceRecording& recording, const CrashImage& image) {
  std::vector<ChosenWrite> writes;
  const IoEvent* flush = FlushOf(recording, image.flush);
  std::size_t next = 0;
  for (std::size_t i = 0; i < recording.log.size(); ++i) {
    if (next < image.writes.size() && image.writes[next].event == i) {
      writes.push_back(image.writes[next++]);
    } else if (IsDurable(recording.log[i], flush)) {
      writes.push_back({i, {}});
    }
  }
  return writes;
}

DeviceImage FinalImage(const DeviceRecording& recording) {
  DeviceImage device = recording.base;
  for (const IoEvent& event : recording.log) {
    if (event.kind == IoEvent::Kind::kWrite) device.Write(event.offset, event.data);
  }
  return device;
}

DeviceImage BuildImage(const DeviceRecording& recording, const CrashImage& image) {
  DeviceImage device = recording.base;
  for (const ChosenWrite& write : WritesOf(recording, image)) {
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
