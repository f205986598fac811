// A recording that went through a file must answer as it did, and a damaged file must be refused.
#include "fusefs/core/trace.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <map>

#include "common/bytes.h"
#include "common/hash.h"
#include "unit/core/random_history.h"

namespace tornfs {
namespace {

class TraceTest : public RandomHistory {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "trace_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }

  // More kinds of ops than the windows are tested with.
  void WideStep(Rng& rng) {
    static const std::string kDirs[] = {"d", "e", "d/e"};
    const std::string& dir = kDirs[rng.Below(3)];
    switch (rng.Below(19)) {
      case 0:
        if (Exists("d") && !Exists(dir)) Mkdir(dir);
        return;
      case 1: {
        if (dir == "d" || !Exists(dir)) return;
        (void)engine_->RemoveDirectory(me_, DirOf(dir), NameOf(dir));
        return;
      }
      case 2:
        (void)engine_->Rename(me_, kRootIno, "e", At("d"), "e", rng.Below(2) == 0 ? 0U : 2U);
        return;
      case 3:
        (void)engine_->MakeSymlink(me_, At("d"), "l", "../" + std::string(rng.Below(400), 't'));
        return;
      case 4:
        ASSERT_TRUE(engine_->SetAttributes(me_, At("d"), {.mode = rng.Below(512), .mtime = 5}));
        return;
      case 5:
        if (Exists("a")) {
          ASSERT_TRUE(engine_->SetAttributes(me_, At("a"), {.uid = 7, .mtime = -5}));
        }
        return;
      case 6: return engine_->AddPromise("ack " + std::to_string(rng.Below(3)));
      case 7: ASSERT_TRUE(engine_->Barrier(me_, OpKind::kSyncfs, kRootIno)); return;
      case 8:
        if (Exists("a") && Exists("b")) {
          ASSERT_TRUE(engine_->CopyRange(me_, At("a"), rng.Below(100), At("b"), 50, 3000));
        }
        return;
      case 9: return HoldOrLetGo();
      case 10:
        if (!Exists("e")) return;
        if (!Exists("e/x")) return Create("e/x");
        (void)engine_->Rename(me_, At("e"), "x", At("d"), "x",
                              rng.Below(2) == 0 ? 0 : RENAME_WHITEOUT);
        return;
      case 11:
        if (Exists("d/x")) Unlink("d/x");
        return;
      case 12:
        if (Exists("b")) {
          ASSERT_TRUE(
              engine_->Allocate(me_, At("b"), FALLOC_FL_KEEP_SIZE, 8192 * rng.Below(9), 99));
        }
        return;
      case 13: {
        const Ino unnamed = engine_->MakeUnnamed(me_, kRootIno, 0600).value();
        if (Exists("a")) return;
        ASSERT_TRUE(engine_->Link(me_, unnamed, kRootIno, "a"));
        return;
      }
      case 14:
        if (!Exists(dir)) return;
        ASSERT_TRUE(
            engine_->SetXattr(me_, At(dir), "user.long", std::string(rng.Below(400), 'v'), 0));
        ASSERT_TRUE(engine_->SetFlags(me_, At(dir), rng.Below(2) == 0 ? 0U : FS_NODUMP_FL));
        return;
      default: Step(rng);
    }
  }
  // An open file that loses its name lives on.
  void HoldOrLetGo() {
    if (held_ != kNoIno) {
      engine_->Unpin(std::exchange(held_, kNoIno));
    } else if (Exists("a")) {
      engine_->Pin(held_ = At("a"));
    }
  }

  std::unique_ptr<Recording> Record(std::uint64_t seed, int steps) {
    UseModel(GetParam());
    held_ = kNoIno;
    Rng rng(seed);
    Mkdir("d");
    Create("b");
    Write("b", std::string(5000, 'B'), 10);
    if (seed % 2 == 0) Sync();
    engine_->Load(engine_->Snapshot(), true);
    for (int i = 0; i < steps; ++i) WideStep(rng);
    return engine_->TakeRecording();
  }

  [[nodiscard]] std::string WriteTo(const std::string& name, const Recording& recording,
                                    const ContentStore& store) {
    const std::string path = dir_ + "/" + name;
    EXPECT_TRUE(WriteTrace(path, R"({"seed":1})", recording, store));
    return path;
  }

  void ExpectSameBase(const Base& a, const Base& b) {
    EXPECT_EQ(a.next_op, b.next_op);
    EXPECT_EQ(a.next_ino, b.next_ino);
    EXPECT_EQ(a.time, b.time);
    EXPECT_EQ(a.durable.inodes(), b.durable.inodes());
    ASSERT_EQ(a.pending.size(), b.pending.size());
    for (std::size_t i = 0; i < a.pending.size(); ++i) {
      EXPECT_EQ(a.pending[i].op, b.pending[i].op);
      EXPECT_EQ(a.pending[i].group, b.pending[i].group);
      EXPECT_EQ(a.pending[i].time, b.pending[i].time);
    }
    const Tree none;
    b.durable.ForEachChange(none, [&](Ino ino, const Inode*, const Inode* inode) {
      const Inode* other = a.durable.Find(ino);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(inode->mtime, other->mtime);
      EXPECT_EQ(inode->ctime, other->ctime);
      EXPECT_EQ(inode->links, other->links);
      EXPECT_EQ(inode->content.allocated(), other->content.allocated());
      EXPECT_EQ(b.durable.PathOf(ino), a.durable.PathOf(ino));
    });
  }

  void ExpectSameStates(const Base& a, const Base& b, const ContentStore& b_store, Rng& rng) {
    for (const Tear tear : {Tear::kPage, Tear::kSector}) {
      const Window was(a, engine_->model(), tear, *store_);
      const Window is(b, engine_->model(), tear, b_store);
      ASSERT_EQ(was.nodes().size(), is.nodes().size());
      for (std::size_t i = 0; i < was.nodes().size(); ++i) {
        EXPECT_EQ(was.nodes()[i].requires_, is.nodes()[i].requires_);
      }
      for (int i = 0; i < 6; ++i) {
        const Choice choice = i == 0 ? was.None() : i == 1 ? was.All() : was.Random(rng);
        EXPECT_EQ(was.State(choice).VisibleDigest(*store_), is.State(choice).VisibleDigest(b_store))
            << was.Token(choice);
      }
    }
  }

  static void ExpectSameOps(const Recording& a, const Recording& b) {
    ASSERT_EQ(a.ops.size(), b.ops.size());
    for (std::size_t i = 0; i < a.ops.size(); ++i) {
      const Op& was = a.ops[i];
      const Op& is = b.ops[i];
      EXPECT_EQ(std::tie(was.number, was.kind, was.pid, was.ino, was.offset, was.length),
                std::tie(is.number, is.kind, is.pid, is.ino, is.offset, is.length));
      EXPECT_EQ(std::tie(was.first_effect, was.effects, was.path, was.to, was.time),
                std::tie(is.first_effect, is.effects, is.path, is.to, is.time));
    }
    ASSERT_EQ(a.promises.size(), b.promises.size());
    for (std::size_t i = 0; i < a.promises.size(); ++i) {
      EXPECT_EQ(std::tie(a.promises[i].cut, a.promises[i].line),
                std::tie(b.promises[i].cut, b.promises[i].line));
    }
    EXPECT_EQ(a.durable_by, b.durable_by);
    EXPECT_EQ(a.start.pending.size(), b.start.pending.size());
    EXPECT_EQ(a.next_ino, b.next_ino);
  }

  std::string dir_;
  Ino held_ = kNoIno;
};

TEST_P(TraceTest, AnswersAsTheRecordingDid) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const auto recording = Record(seed, 40);
    const std::string path = WriteTo("trace", *recording, *store_);
    const auto store = ContentStore::Open({}).value();
    // Positions must not depend on the store's being empty.
    ASSERT_TRUE(store->Append(std::as_bytes(std::span("before", 6))));
    const auto trace = ReadTrace(path, *store);
    ASSERT_TRUE(trace) << trace.error().Message();
    EXPECT_EQ(trace->header, R"({"seed":1})");
    const Recording& back = trace->recording;
    EXPECT_EQ(back.Name(*store), recording->Name(*store_));
    ExpectSameOps(*recording, back);
    Rng rng(seed);
    for (OpNumber cut = recording->start.next_op; cut <= recording->end(); ++cut) {
      SCOPED_TRACE(cut);
      const Base was = recording->BaseAt(cut);
      const Base is = back.BaseAt(cut);
      ExpectSameBase(was, is);
      ExpectSameStates(was, is, *store, rng);
      EXPECT_EQ(recording->PromisesBefore(cut), back.PromisesBefore(cut));
    }
    // Written again it is the same file: nothing that a trace holds was lost on the way.
    const auto first = ReadFile(WriteTo("again", back, *store));
    EXPECT_EQ(*first, *ReadFile(path));
  }
}

TEST_P(TraceTest, AnEngineGoesOnFromAnyCut) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto recording = Record(seed, 40);
    const std::string path = WriteTo("trace", *recording, *store_);
    const auto trace = ReadTrace(path, *store_);
    ASSERT_TRUE(trace);
    for (OpNumber cut = recording->start.next_op; cut <= recording->end(); ++cut) {
      engine_->Load(recording->BaseAt(cut), false);
      const Digest was = VisibleNow();
      engine_->Load(trace->recording.BaseAt(cut), false);
      EXPECT_EQ(VisibleNow(), was);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TraceTest, ::testing::ValuesIn(ModelNames()), ModelTestName);

// Files on disk and what becomes of them when they are damaged, under one model.
class DamagedTrace : public TraceTest {
 protected:
  [[nodiscard]] std::string SmallTrace() {
    engine_->Load(engine_->Snapshot(), true);
    Mkdir("d");
    Create("d/f");
    Write("d/f", "hello");
    EXPECT_TRUE(engine_->SetXattr(me_, At("d/f"), "user.x", "value", 0));
    EXPECT_TRUE(engine_->Allocate(me_, At("d/f"), FALLOC_FL_KEEP_SIZE, 0, 9000));
    Fsync("d/f");
    engine_->AddPromise("saved");
    Rename("d/f", "g");
    FsyncDir("");
    Truncate("g", 2);
    Unlink("g");
    const auto recording = engine_->TakeRecording();
    name_ = recording->Name(*store_);
    return ReadFile(WriteTo("small", *recording, *store_)).value();
  }
  Result<Trace> ReadBytes(const std::string& bytes) {
    // A new file each time: some filesystems write a truncated one to the disk when it is closed.
    std::filesystem::remove(dir_ + "/damaged");
    EXPECT_TRUE(WriteFile(dir_ + "/damaged", bytes));
    return ReadTrace(dir_ + "/damaged", *store_);
  }
  Digest name_;
};

TEST_F(DamagedTrace, EveryFlippedByteIsRefused) {
  const std::string good = SmallTrace();
  ASSERT_TRUE(ReadBytes(good));
  EXPECT_EQ(ReadBytes(good)->recording.Name(*store_), name_);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      const auto trace = ReadBytes(bad);
      ASSERT_FALSE(trace) << "byte " << at;
      EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
      EXPECT_NE(trace.error().context.find("trace"), std::string::npos);
    }
  }
}

TEST_F(DamagedTrace, EveryShorterAndLongerFileIsRefused) {
  const std::string good = SmallTrace();
  for (std::size_t length = 0; length < good.size(); ++length) {
    const auto trace = ReadBytes(good.substr(0, length));
    ASSERT_FALSE(trace) << "length " << length;
    EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(ReadBytes(good + '\0'));
  EXPECT_FALSE(ReadBytes(good + good));
}

TEST_F(DamagedTrace, GarbageIsNoTrace) {
  EXPECT_EQ(ReadBytes("hello").error().context, dir_ + "/damaged: not a trace");
  EXPECT_EQ(ReadBytes("TORNTRC1").error().code, ErrorCode::kCorrupt);
  const auto missing = ReadTrace(dir_ + "/missing", *store_);
  EXPECT_EQ(missing.error().sys_errno, ENOENT);
}

void Reseal(std::string& bytes) {
  const auto span = std::as_writable_bytes(std::span(bytes.data(), bytes.size()));
  StoreLe(span, 24, Hash64(std::span<const std::byte>(span.first(24))));
  for (std::size_t at = 32; at + 24 <= span.size();) {
    const auto length = LoadLe<std::uint64_t>(span, at + 8);
    if (length > span.size() - at - 24) return;
    StoreLe(span, at + 16, Hash64(std::span<const std::byte>(span.subspan(at + 24, length))));
    at += 24 + length;
  }
}

TEST_F(DamagedTrace, AnotherVersionIsNamed) {
  std::string other = SmallTrace();
  other[8] = 3;
  Reseal(other);
  const auto trace = ReadBytes(other);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(trace.error().context, dir_ + "/damaged: trace version 3, known is 2");
}

// Damage that the checksums were made to agree with: it is refused, or gives a recording that can
// be asked for every cut.
TEST_F(DamagedTrace, WrongRecordsWithRightChecksumsDoNoHarm) {
  const std::string good = SmallTrace();
  std::map<bool, int> outcomes;
  Rng rng(1);
  for (std::size_t at = 32; at < good.size(); ++at) {
    for (int round = 0; round < 12; ++round) {
      std::string bad = good;
      bad[at] =
          static_cast<char>(round < 8 ? bad[at] ^ (1 << round) : static_cast<int>(rng.Below(256)));
      if (round % 4 == 3) bad[32 + rng.Below(bad.size() - 32)] = static_cast<char>(rng.Below(4));
      Reseal(bad);
      const auto trace = ReadBytes(bad);
      ++outcomes[trace.has_value()];
      if (!trace) {
        EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
        continue;
      }
      const Recording& recording = trace->recording;
      (void)recording.Name(*store_);
      for (OpNumber cut = recording.start.next_op; cut <= recording.end(); ++cut) {
        const Window window(recording.BaseAt(cut), engine_->model(), Tear::kPage, *store_);
        (void)window.State(window.All());
        (void)window.State(window.None());
        engine_->Load(recording.BaseAt(cut), false);
      }
    }
  }
  EXPECT_GT(outcomes[true], 100);
  EXPECT_GT(outcomes[false], 100);
}

TEST_F(DamagedTrace, AFailedWriteLeavesTheOldFile) {
  const std::string good = SmallTrace();
  engine_->Load(engine_->Snapshot(), true);
  const auto recording = engine_->TakeRecording();
  EXPECT_FALSE(WriteTrace(dir_ + "/none/trace", "", *recording, *store_));
  std::filesystem::create_directory(dir_ + "/small.tmp");
  EXPECT_FALSE(WriteTrace(dir_ + "/small", "", *recording, *store_));
  EXPECT_EQ(*ReadFile(dir_ + "/small"), good);
}

TEST_F(DamagedTrace, AFullStoreIsNotDamage) {
  (void)SmallTrace();
  const auto full = ContentStore::Open({.directory = "", .memory_limit = 0}).value();
  const auto trace = ReadTrace(dir_ + "/small", *full);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kIo);
  EXPECT_EQ(trace.error().sys_errno, ENOSPC);
}

TEST_F(DamagedTrace, SharedBytesAreStoredOnceAndZerosNot) {
  engine_->Load(engine_->Snapshot(), true);
  Create("a");
  Write("a", std::string(100000, 'x'));
  for (int i = 0; i < 10; ++i) {
    const std::string copy = "copy" + std::to_string(i);
    Create(copy);
    ASSERT_TRUE(engine_->CopyRange(me_, At("a"), 0, At(copy), 0, 100000));
  }
  Truncate("a", 1ULL << 40);
  Truncate("a", 0);
  Sync();
  const auto recording = engine_->TakeRecording();
  const std::string path = WriteTo("trace", *recording, *store_);
  EXPECT_LT(std::filesystem::file_size(path), 102000U);
  const auto trace = ReadTrace(path, *store_);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->recording.Name(*store_), recording->Name(*store_));
}

}  // namespace
}  // namespace tornfs
