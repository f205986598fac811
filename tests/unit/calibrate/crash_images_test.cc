#include "harness/device/crash_images.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tornfs::harness {
namespace {

constexpr std::uint64_t kSize = 1 << 20;
constexpr std::size_t kSector = DeviceImage::kSectorBytes;
// Far from the first block, which is never torn.
constexpr std::uint64_t kFar = 64 << 10;

// A recording in the making, one request after the other.
class Device {
 public:
  Device& Write(std::uint64_t offset, std::size_t sectors, char byte, std::uint64_t duration = 0) {
    IoEvent event{IoEvent::Kind::kWrite, ++clock_, 0, offset, {}, 0};
    event.data.assign(sectors * kSector, static_cast<std::byte>(byte));
    event.completed = duration == 0 ? ++clock_ : clock_ + duration;
    recording_.log.push_back(std::move(event));
    return *this;
  }
  Device& Flush() {
    recording_.log.push_back({IoEvent::Kind::kFlush, clock_ + 1, clock_ + 2, 0, {}, 0});
    clock_ += 2;
    return *this;
  }
  Device& Mark(std::uint64_t mark) {
    ++clock_;
    recording_.log.push_back({IoEvent::Kind::kMark, clock_, clock_, 0, {}, mark});
    return *this;
  }
  const DeviceRecording& recording() const { return recording_; }

 private:
  DeviceRecording recording_{DeviceImage(kSize), {}};
  std::uint64_t clock_ = 0;
};

CrashImages Plan(const Device& device, std::size_t most = 10000, bool data_in_sectors = true) {
  return PlanCrashImages(device.recording(), Filesystems()[0], {most, 7, data_in_sectors});
}

// The first byte of each of `count` sectors from `offset` on, `.` for the fill.
std::string Look(const Device& device, const CrashImage& image, std::uint64_t offset,
                 std::size_t count) {
  const DeviceImage content = BuildImage(device.recording(), image);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte byte{};
    content.Read(offset + i * kSector, {&byte, 1});
    text += byte == DeviceImage::kFill ? '.' : static_cast<char>(byte);
  }
  return text;
}

std::set<std::string> Contents(const Device& device, const CrashImages& images,
                               std::uint64_t offset, std::size_t count) {
  std::set<std::string> all;
  for (const CrashImage& image : images.images) {
    all.insert(Look(device, image, offset, count));
  }
  return all;
}

TEST(CrashImages, EverySubsetOfASmallWindow) {
  Device device;
  device.Write(kFar, 1, 'a').Write(kFar + kSector, 1, 'b').Write(kFar + 2 * kSector, 1, 'c');
  const CrashImages images = Plan(device);
  EXPECT_EQ(images.images.size(), 8U);
  EXPECT_EQ(Contents(device, images, kFar, 3),
            (std::set<std::string>{"...", "a..", ".b.", "..c", "ab.", "a.c", ".bc", "abc"}));
}

TEST(CrashImages, AFlushMakesDurableWhatHadCompleted) {
  Device device;
  device.Write(kFar, 1, 'a').Flush().Write(kFar + kSector, 1, 'b');
  const CrashImages images = Plan(device);
  EXPECT_EQ(Contents(device, images, kFar, 2), (std::set<std::string>{"..", "a.", "ab"}));
}

TEST(CrashImages, AFlushDoesNotCoverAWriteInFlight) {
  Device device;
  device.Write(kFar, 1, 'a', 100).Flush().Write(kFar + kSector, 1, 'b');
  const CrashImages images = Plan(device);
  EXPECT_EQ(Contents(device, images, kFar, 2), (std::set<std::string>{"..", "a.", ".b", "ab"}));
}

TEST(CrashImages, TheLaterOfTwoWritesStays) {
  Device device;
  device.Write(kFar, 1, 'a').Write(kFar, 1, 'b');
  EXPECT_EQ(Contents(device, Plan(device), kFar, 1), (std::set<std::string>{".", "a", "b"}));
}

TEST(CrashImages, WritesAreTornAtSectors) {
  Device device;
  device.Write(kFar, 4, 'a');
  const std::set<std::string> seen = Contents(device, Plan(device), kFar, 4);
  for (const char* torn : {"....", "aaaa", "a...", "aa..", "aaa.", ".aaa", "..aa", "...a"}) {
    EXPECT_TRUE(seen.contains(torn)) << torn;
  }
}

TEST(CrashImages, DataAreTornAtPagesAndMetadataAtSectors) {
  Device device;
  device.Write(kFar, 16, 'a');
  EXPECT_EQ(Contents(device, Plan(device, 1000, false), kFar, 16),
            (std::set<std::string>{"................", "aaaaaaaaaaaaaaaa", "aaaaaaaa........",
                                   "........aaaaaaaa"}));
  Device metadata;
  metadata.Write(kFar, 8, '1');
  EXPECT_TRUE(Contents(metadata, Plan(metadata, 1000, false), kFar, 8).contains("1......."));
}

TEST(CrashImages, TheFirstBlockIsNeverTorn) {
  Device device;
  device.Write(0, 8, 'a');
  EXPECT_EQ(Contents(device, Plan(device), 0, 8), (std::set<std::string>{"........", "aaaaaaaa"}));
}

TEST(CrashImages, EqualContentIsOneImageThatKeepsItsMoments) {
  Device device;
  device.Mark(0).Write(kFar, 1, 'a').Mark(1).Flush().Mark(2).Write(kFar + kSector, 1, 'b').Mark(3);
  const CrashImages images = Plan(device);
  EXPECT_EQ(images.images.size(), 3U);
  EXPECT_GT(images.equal, 0U);
  for (const CrashImage& image : images.images) {
    if (Look(device, image, kFar, 2) != "a.") continue;
    // Before the flush, and after it without the second write.
    ASSERT_EQ(image.moments.size(), 2U);
    EXPECT_EQ(image.moments[0], (Moments{1, 1, 1}));
    EXPECT_EQ(image.moments[1], (Moments{1, 2, 2}));
    return;
  }
  FAIL() << "no image with the first write alone";
}

TEST(CrashImages, AStepThatReturnedBehindAFlushIsDone) {
  Device device;
  device.Mark(0).Write(kFar, 1, 'a').Flush().Mark(1);
  const CrashImages images = Plan(device);
  ASSERT_EQ(images.images.size(), 2U);
  for (const CrashImage& image : images.images) {
    const bool lost = Look(device, image, kFar, 1) == ".";
    std::size_t ended = 0;
    for (const Moments& moments : image.moments) ended = std::max(ended, moments.last_ended);
    EXPECT_EQ(ended, lost ? 0U : 1U);
  }
}

TEST(CrashImages, LargeWindowsHavePrefixesSinglesAndDrops) {
  Device device;
  for (std::size_t i = 0; i < 9; ++i) {
    device.Write(kFar + i * kSector, 1, static_cast<char>('a' + i));
  }
  const std::set<std::string> seen = Contents(device, Plan(device, 60), kFar, 9);
  for (const char* wanted : {"abcd.....", "...d.....", "abc.efghi", "abcdefghi", "........."}) {
    EXPECT_TRUE(seen.contains(wanted)) << wanted;
  }
  EXPECT_GT(seen.size(), 28U) << "no random ones";
}

TEST(CrashImages, TheLimitHoldsAndTheSeedDecides) {
  Device device;
  for (std::size_t i = 0; i < 20; ++i) device.Write(kFar + i * 4096, 8, 'a');
  const CrashImages first = Plan(device, 30);
  const CrashImages again = Plan(device, 30);
  ASSERT_EQ(first.images.size(), 30U);
  ASSERT_EQ(again.images.size(), 30U);
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(first.images[i].digest, again.images[i].digest);
  }
}

}  // namespace
}  // namespace tornfs::harness
