#include "fusefs/image/device_image.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tornfs {
namespace {

constexpr std::uint64_t kSize = 1 << 20;

std::vector<std::byte> Bytes(std::size_t count, char byte) {
  return std::vector<std::byte>(count, static_cast<std::byte>(byte));
}

std::vector<std::byte> ReadFrom(const DeviceImage& image, std::uint64_t offset, std::size_t count) {
  std::vector<std::byte> bytes(count);
  image.Read(offset, bytes);
  return bytes;
}

TEST(DeviceImage, WhatWasNeverWrittenIsTheFill) {
  const DeviceImage image(kSize);
  EXPECT_EQ(ReadFrom(image, kSize - 10, 10), std::vector<std::byte>(10, DeviceImage::kFill));
}

TEST(DeviceImage, PartsOfBlocksKeepTheRest) {
  DeviceImage image(kSize);
  image.Write(4000, Bytes(200, 'a'));
  image.Write(4096, Bytes(4096, '\0'));
  EXPECT_EQ(ReadFrom(image, 3999, 1), std::vector<std::byte>(1, DeviceImage::kFill));
  EXPECT_EQ(ReadFrom(image, 4000, 96), Bytes(96, 'a'));
  EXPECT_EQ(ReadFrom(image, 4096, 4096), Bytes(4096, '\0'));
  EXPECT_EQ(image.blocks(), 2U);
}

TEST(DeviceImage, CopiesDoNotSeeEachOther) {
  DeviceImage base(kSize);
  base.Write(0, Bytes(8192, '\0'));
  DeviceImage one = base;
  DeviceImage two = base;
  one.Write(100, Bytes(10, 'x'));
  two.Write(5000, Bytes(10, 'y'));
  one.Write(200, Bytes(10, 'z'));
  EXPECT_EQ(ReadFrom(base, 0, 8192), Bytes(8192, '\0'));
  EXPECT_EQ(ReadFrom(one, 100, 10), Bytes(10, 'x'));
  EXPECT_EQ(ReadFrom(one, 5000, 10), Bytes(10, '\0'));
  EXPECT_EQ(ReadFrom(two, 5000, 10), Bytes(10, 'y'));
  EXPECT_EQ(ReadFrom(two, 100, 10), Bytes(10, '\0'));
}

TEST(DeviceImage, VisitsBlocksInOrder) {
  DeviceImage image(kSize);
  image.Write(40960, Bytes(1, 'b'));
  image.Write(0, Bytes(1, 'a'));
  std::vector<std::uint64_t> offsets;
  image.ForEachBlock([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    offsets.push_back(offset);
    EXPECT_EQ(bytes.size(), DeviceImage::kBlockBytes);
  });
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 40960}));
}

}  // namespace
}  // namespace tornfs
