#include "journal/record_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "common/bytes.h"
#include "common/fd.h"
#include "journal/format.h"

namespace tornfs::journal::cli {
namespace {

// What a stream of `input` is split into; an error ends the list with its kind in brackets.
std::vector<std::string> Split(const std::string& input, bool length_prefixed) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const Fd reading(ends[0]);
  std::thread writer([&input, out = Fd(ends[1])] { (void)WriteAll(out.get(), input); });
  RecordSource source(reading.get(), length_prefixed);
  std::vector<std::string> records;
  for (;;) {
    const auto body = source.Next();
    if (!body) records.push_back(std::string("[").append(ErrorKindName(body.error().kind)) + "]");
    if (!body || !*body) break;
    records.emplace_back(reinterpret_cast<const char*>((*body)->data()), (*body)->size());
  }
  // Lets a writer that is still writing go on.
  std::array<char, 65536> rest;
  while (::read(reading.get(), rest.data(), rest.size()) > 0) continue;
  writer.join();
  return records;
}

std::string Prefixed(const std::string& body) {
  std::array<std::byte, 4> prefix;
  StoreLe(std::span<std::byte>(prefix), 0, static_cast<std::uint32_t>(body.size()));
  return std::string(reinterpret_cast<const char*>(prefix.data()), prefix.size()) + body;
}

using Records = std::vector<std::string>;

TEST(RecordSource, LinesWithAndWithoutAnEnd) {
  EXPECT_EQ(Split("", false), Records{});
  EXPECT_EQ(Split("a\n\nb", false), (Records{"a", "", "b"}));
  EXPECT_EQ(Split("\n", false), Records{""});
}

TEST(RecordSource, LinesLongerThanOneRead) {
  const std::string line(200'000, 'x');
  EXPECT_EQ(Split(line + "\n" + line, false), (Records{line, line}));
}

TEST(RecordSource, PrefixedRecordsMayHoldAnything) {
  const std::string large(100'000, '\n');
  EXPECT_EQ(Split(Prefixed("a\nb") + Prefixed("") + Prefixed(large), true),
            (Records{"a\nb", "", large}));
}

TEST(RecordSource, AStreamThatEndsInsideARecordIsInvalid) {
  EXPECT_EQ(Split(Prefixed("good") + Prefixed("cut").substr(0, 6), true),
            (Records{"good", "[invalid]"}));
  EXPECT_EQ(Split("\x01", true), Records{"[invalid]"});
}

TEST(RecordSource, TooLongIsRefusedBeforeItIsRead) {
  EXPECT_EQ(Split(std::string("\xff\xff\xff\xff", 4) + "x", true), Records{"[unsupported]"});
  const std::string line(kPrepareBytesMax - kPrepareBytesMin + 1, 'x');
  EXPECT_EQ(Split(line, false), Records{"[unsupported]"});
}

}  // namespace
}  // namespace tornfs::journal::cli
