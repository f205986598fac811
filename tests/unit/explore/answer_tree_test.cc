// What is known of programs, and how workers tell each other.
#include "harness/explore/answer_tree.h"

#include "harness/explore/run_board.h"
#include "harness/explore/run_codec.h"
#include "unit/core/engine_fixture.h"

namespace tornfs::harness {
namespace {

class AnswerTreeTest : public EngineFixture {
 protected:
  // A run that looks at a, writes its answer to b, and looks at c.
  std::shared_ptr<ProgramRun> RunOf(const std::string& a, const std::string& c, int status) {
    auto run = std::make_shared<ProgramRun>();
    UseModel("posix");
    engine_->Load(engine_->Snapshot(), true);
    if (!a.empty()) Make("a", a);
    run->asked.push_back(Asked{{Question::Kind::kLookup, kRootIno, 0, "a"}, Hash128(a), 0, 0, 0});
    engine_->Load(engine_->Snapshot(), true);
    Make("b", a);
    const Recording& made = *engine_->recording();
    run->asked.push_back(
        Asked{{Question::Kind::kLookup, kRootIno, 0, "c"},
              Hash128(c),
              static_cast<std::uint32_t>(made.ops.size()),
              static_cast<std::uint32_t>(made.effects.size() - made.start.pending.size()),
              1});
    run->recording = engine_->TakeRecording();
    run->verdict.status = status;
    run->verdict.judgement = status == 0 ? Judgement::kGood : Judgement::kViolation;
    run->verdict.title = "says no";
    DigestChanges(*run, *store_);
    return run;
  }
  void Make(const std::string& name, const std::string& text) {
    Create(name);
    if (!text.empty()) Write(name, text);
  }
};

TEST_F(AnswerTreeTest, EqualRunsAreOneLeaf) {
  AnswerTree tree;
  EXPECT_EQ(tree.Add(RunOf("x", "1", 0)), "");
  EXPECT_EQ(tree.Add(RunOf("x", "1", 0)), "");
  EXPECT_EQ(tree.leaves(), 1u);
  EXPECT_EQ(tree.Add(RunOf("x", "2", 1)), "");
  EXPECT_EQ(tree.Add(RunOf("y", "1", 0)), "");
  EXPECT_EQ(tree.leaves(), 3u);
  const AnswerTree::Node* node = tree.root()->Find(Hash128("x"))->Find(Hash128("2"));
  ASSERT_NE(node, nullptr);
  EXPECT_TRUE(node->leaf());
  EXPECT_EQ(node->run().verdict.status, 1);
  EXPECT_EQ(tree.root()->Find(Hash128("z")), nullptr);
}

TEST_F(AnswerTreeTest, DifferencesAreSaid) {
  AnswerTree tree;
  EXPECT_EQ(tree.Add(RunOf("x", "1", 0)), "");
  EXPECT_NE(tree.Add(RunOf("x", "1", 1)).find("it ended with"), std::string::npos);

  auto other_question = RunOf("x", "1", 0);
  other_question->asked[1].question.name = "d";
  EXPECT_NE(tree.Add(other_question).find("'d'"), std::string::npos);

  auto other_bytes = RunOf("y", "1", 0);
  other_bytes->asked[0].answer = Hash128("x");
  EXPECT_NE(tree.Add(other_bytes).find("changed files differently"), std::string::npos);

  auto shorter = RunOf("x", "1", 0);
  shorter->asked.pop_back();
  shorter->did.erase(shorter->did.begin() + 1);
  EXPECT_NE(tree.Add(shorter), "");
}

TEST_F(AnswerTreeTest, RunsTravel) {
  const auto run = RunOf("x", "1", 1);
  const std::string bytes = EncodeRun(*run, *store_);
  const auto again = DecodeRun(bytes, *store_);
  ASSERT_NE(again, nullptr);
  AnswerTree tree;
  EXPECT_EQ(tree.Add(run), "");
  EXPECT_EQ(tree.Add(again), "");
  // Not only the digests: what was done is the same when it is digested anew.
  auto anew = std::make_shared<ProgramRun>(*again);
  anew->did.clear();
  DigestChanges(*anew, *store_);
  EXPECT_EQ(anew->did, run->did);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(DecodeRun(std::string_view(bytes).substr(0, cut), *store_), nullptr);
  }
}

TEST(RunBoardTest, EntriesComeInOrderUntilItIsFull) {
  const auto board = RunBoard::Create(4096);
  std::uint64_t position = 0;
  EXPECT_FALSE(board->Next(position));
  std::uint32_t posted = 0;
  for (; posted < 1000; ++posted) board->Post(posted, std::string(100, 'x'));
  std::uint32_t seen = 0;
  while (const auto entry = board->Next(position)) {
    EXPECT_EQ(entry->kind, seen++);
    EXPECT_EQ(entry->bytes, std::string(100, 'x'));
  }
  EXPECT_GT(seen, 20u);
  EXPECT_LT(seen, 4096u / 100u);
}

}  // namespace
}  // namespace tornfs::harness
