#include "base/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/nearest.h"
#include "base/quote.h"

namespace hone {
namespace {

using testing::HasSubstr;

struct Adapter {
  std::string kind = "lora";
  int64_t rank = 16;
  double alpha = 32;
  std::array<double, 2> betas{0.9, 0.999};
  std::vector<std::string> targets = {"all-linear"};

  void fields(auto& v) {
    v("kind", kind, "how", one_of({"lora", "none"}));
    v("rank", rank, "rank", between(1, 64));
    v("alpha", alpha, "scale", above(0));
    v("betas", betas, "decay", between(0, 1));
    v("targets", targets, "which");
  }
  bool operator==(const Adapter&) const = default;
};

struct Source {
  std::string path;
  double weight = 1;

  std::string& shorthand() { return path; }
  void fields(auto& v) {
    v("path", path, "file");
    v("weight", weight, "share", above(0));
  }
  bool operator==(const Source&) const = default;
};

struct Length {
  std::optional<double> epochs = 1;
  std::optional<int64_t> steps;

  void fields(auto& v) {
    v("epochs", epochs, "passes", above(0));
    v("steps", steps, "steps", at_least(1));
    v.either("epochs", epochs, "steps", steps);
  }
  bool operator==(const Length&) const = default;
};

struct Mesh {
  int64_t data = 1, tensor = 1;

  void fields(auto& v) {
    v("data", data, "copies", at_least(1));
    v("tensor", tensor, "parts", at_least(1));
  }
  bool operator==(const Mesh&) const = default;
};

struct Job {
  std::string model;
  Adapter adapter;
  std::vector<Source> train;
  Length length;
  OrAuto<Mesh> mesh;
  std::optional<std::string> note;
  bool packing = false;

  void fields(auto& v) {
    v("model", model, "which model");
    v("adapter", adapter, "what is trained");
    v("train", train, "training data");
    v("length", length, "how long");
    v("mesh", mesh, "devices");
    v("note", note, "free text");
    v("packing", packing, "pack");
  }
  bool operator==(const Job&) const = default;
};

template <class T>
T read(const std::string& text) {
  T out;
  read_fields(parse_yaml(text, "a.yaml"), out);
  return out;
}

std::string message_of(auto&& work) {
  try {
    work();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

struct Bad {
  std::string text;
  const char* message;
};

TEST(Fields, ReadsEveryKind) {
  const Job run = read<Job>(
      "model: 'a b'\nadapter: {rank: +8, alpha: 1e1, betas: [0, 1.0], targets: q_proj}\n"
      "train: [a.jsonl, {path: b.jsonl, weight: 2}]\nlength: {steps: 10}\nmesh: {tensor: 2}\n"
      "note: 7\npacking: true\n");
  const Job expected{
      .model = "a b",
      .adapter = {"lora", 8, 10, {0, 1}, {"q_proj"}},
      .train = {{"a.jsonl", 1}, {"b.jsonl", 2}},
      .length = {std::nullopt, 10},
      .mesh = {Mesh{1, 2}},
      .note = "7",
      .packing = true,
  };
  EXPECT_EQ(run, expected);
  EXPECT_EQ(read<Job>(""), Job());
  EXPECT_EQ(read<Job>("# nothing\n"), Job());
}

TEST(Fields, NamesPlaceAndWhatWasFound) {
  const Bad cases[] = {
      {"[1]", "a.yaml: expected a map, found a list"},
      {"x", "a.yaml: expected a map, found \"x\""},
      {"modell: x", "a.yaml: unknown key \"modell\"; did you mean \"model\"?"},
      {"Model: x", "unknown key \"Model\"; did you mean \"model\"?"},
      {"zzzzzz: x", "unknown key \"zzzzzz\"; known: model, adapter, train, length, mesh, note"},
      {"<<: {model: x}", "unknown key \"<<\""},
      {"adapter:\n  rnk: 1\n", "a.yaml:2: adapter: unknown key \"rnk\"; did you mean \"rank\"?"},
      {"adapter: lora", "adapter: expected a map, found \"lora\""},
      {"adapter:", "adapter: expected a map, found nothing"},
      {"adapter: []", "adapter: expected a map, found a list"},
      {"adapter:\n  kind: x\n  rank: eight\n",
       "a.yaml:2: adapter.kind: must be one of lora | none"},
      {"adapter:\n  rank: eight\n", "a.yaml:2: adapter.rank: expected an integer, found \"eight\""},
      {"adapter: {rank: '8'}", "adapter.rank: expected an integer, found \"8\""},
      {"adapter: {rank: 8.0}", "adapter.rank: expected an integer, found \"8.0\""},
      {"adapter: {rank: 1e1}", "adapter.rank: expected an integer, found \"1e1\""},
      {"adapter: {rank: 0x10}", "adapter.rank: expected an integer, found \"0x10\""},
      {"adapter: {rank: 1_0}", "adapter.rank: expected an integer, found \"1_0\""},
      {"adapter: {rank: +-8}", "adapter.rank: expected an integer, found \"+-8\""},
      {"adapter: {rank: }", "adapter.rank: expected an integer, found nothing"},
      {"adapter: {rank: [8]}", "adapter.rank: expected an integer, found a list"},
      {"adapter: {rank: 0}", "adapter.rank: must be 1 to 64, found 0"},
      {"adapter: {rank: 65}", "adapter.rank: must be 1 to 64, found 65"},
      {"adapter: {rank: 9223372036854775808}", "adapter.rank: expected an integer of 64 bits"},
      {"adapter: {rank: -9223372036854775809}", "adapter.rank: expected an integer of 64 bits"},
      {"adapter: {alpha: x}", "adapter.alpha: expected a number, found \"x\""},
      {"adapter: {alpha: .inf}", "adapter.alpha: expected a number, found \".inf\""},
      {"adapter: {alpha: inf}", "adapter.alpha: expected a number, found \"inf\""},
      {"adapter: {alpha: nan}", "adapter.alpha: expected a number, found \"nan\""},
      {"adapter: {alpha: 1e999}", "adapter.alpha: expected a number, found \"1e999\""},
      {"adapter: {alpha: 1.0.0}", "adapter.alpha: expected a number, found \"1.0.0\""},
      {"adapter: {alpha: 0}", "adapter.alpha: must be above 0, found 0"},
      {"adapter: {alpha: -1}", "adapter.alpha: must be above 0, found -1"},
      {"adapter: {betas: [0.9]}", "adapter.betas: expected a list of 2, found a list of 1"},
      {"adapter: {betas: 0.9}", "adapter.betas: expected a list of 2, found \"0.9\""},
      {"adapter: {betas: [0.9, x]}", "adapter.betas[1]: expected a number, found \"x\""},
      {"adapter: {betas: [0.9, 1.1]}", "adapter.betas[1]: must be 0 to 1, found 1.1"},
      {"adapter: {targets: [a, [b]]}", "adapter.targets[1]: expected text, found a list"},
      {"adapter: {targets: {a: b}}", "adapter.targets: expected text, found a map"},
      {"adapter: {targets: [a,,b]}", "adapter.targets[1]: expected text, found nothing"},
      {"model: {a: b}", "model: expected text, found a map"},
      {"model: ~", "model: expected text, found nothing"},
      {"packing: yes", "packing: expected true or false, found \"yes\""},
      {"packing: True", "packing: expected true or false, found \"True\""},
      {"packing: 1", "packing: expected true or false, found \"1\""},
      {"packing: 'true'", "packing: expected true or false, found \"true\""},
      {"train:\n- path: a\n- weight: x\n", "a.yaml:3: train[1].weight: expected a number"},
      {"train: [{pth: a}]", "train[0]: unknown key \"pth\"; did you mean \"path\"?"},
      {"train: [[a]]", "train[0]: expected a map, found a list"},
      {"train: {path: a, weight: 0}", "train.weight: must be above 0, found 0"},
      {"length: {epochs: 1, steps: 2}", "length.steps: give epochs or steps, not both"},
      {"length: {epochs: 0}", "length.epochs: must be above 0, found 0"},
      {"length: {steps: 0}", "length.steps: must be at least 1, found 0"},
      {"length: 3", "length: expected a map, found \"3\""},
      {"mesh: atuo", "mesh: expected a map, found \"atuo\""},
      {"mesh: {fsdp: 2}", "mesh: unknown key \"fsdp\"; known: data, tensor"},
      {"mesh: {data: 0}", "mesh.data: must be at least 1, found 0"},
      {"note: [a]", "note: expected text, found a list"},
  };
  for (const Bad& c : cases)
    EXPECT_THAT(message_of([&] { read<Job>(c.text); }), HasSubstr(c.message)) << c.text;
  std::printf("%zu reader cases\n", std::size(cases));
  EXPECT_GE(std::size(cases), 57u);
}

TEST(Fields, OverridesOneField) {
  Job run;
  for (const char* text :
       {"model=hf://org/name@rev", "adapter.rank=8", "adapter.targets=[q_proj, v_proj]",
        "train=a.jsonl", "length.steps=10", "mesh.tensor=2", "note=a=b", "packing=true"})
    set_field(run, text);
  const Job expected{
      .model = "hf://org/name@rev",
      .adapter = {.rank = 8, .targets = {"q_proj", "v_proj"}},
      .train = {{"a.jsonl", 1}},
      .length = {std::nullopt, 10},
      .mesh = {Mesh{1, 2}},
      .note = "a=b",
      .packing = true,
  };
  EXPECT_EQ(run, expected);
  for (const char* text : {"length.epochs=0.5", "mesh=auto", "note=null", "adapter={rank: 4}"})
    set_field(run, text);
  EXPECT_EQ(run.length, (Length{0.5, std::nullopt}));
  EXPECT_EQ(run.mesh.value, std::nullopt);
  EXPECT_EQ(run.note, std::nullopt);
  EXPECT_EQ(run.adapter, (Adapter{.rank = 4, .targets = {"q_proj", "v_proj"}}));
}

TEST(Fields, RefusesABadOverride) {
  const Bad cases[] = {
      {"adapter.rank", "override \"adapter.rank\": expected key=value, as in adapter.rank=8"},
      {"=8", "override \"=8\": expected key=value"},
      {"", "override \"\": expected key=value"},
      {".rank=8", "expected key=value"},
      {"adapter.=8", "expected key=value"},
      {"adapter..rank=8", "expected key=value"},
      {"adapter.rnk=8", "adapter: unknown key \"rnk\"; did you mean \"rank\"?"},
      {"adaptor.rank=8", "unknown key \"adaptor\"; did you mean \"adapter\"?"},
      {"adapter.rank.x=8", "adapter.rank: expected an integer, found a map"},
      {"adapter=8", "adapter: expected a map, found \"8\""},
      {"adapter.rank=", "adapter.rank: expected an integer, found nothing"},
      {"adapter.rank=x", "override \"adapter.rank=x\": adapter.rank: expected an integer"},
      {"adapter.targets=[a", "override \"adapter.targets=[a\": "},
      {"adapter.targets='a", "override \"adapter.targets='a\": "},
      {"model=*a", "override \"model=*a\": not YAML"},
      {"train[0].path=a", "unknown key \"train[0]\"; known: model, adapter, train"},
      {"adapter={rank: 1, rank: 2}", "key \"rank\" appears twice"},
      {"length={steps: 1, epochs: 1}", "give epochs or steps, not both"},
  };
  for (const Bad& c : cases) {
    Job run;
    EXPECT_THAT(message_of([&] { set_field(run, c.text); }), HasSubstr(c.message)) << c.text;
  }
  std::printf("%zu override errors\n", std::size(cases));
  EXPECT_GE(std::size(cases), 18u);
}

TEST(Fields, WritesWhatReadsBackEqual) {
  const std::vector<std::vector<const char*>> changes = {
      {},
      {"model='true'", "note='null'", "packing=true"},
      {"model='12'", "note=''"},
      {"model=\"a\\nb: \\\"c\\\" \\x01 # é\""},
      {"adapter.alpha=1e-300", "adapter.betas=[0.1, 0.30000000000000004]"},
      {"adapter.alpha=123456789012345678901234567890", "adapter.targets=[]"},
      {"length.steps=9223372036854775807", "mesh.data=2"},
      {"length.epochs=0.1"},
      {"train=[{path: 'a b', weight: 1.0e-8}, c]"},
      {"train=[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
       "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb]"},
  };
  for (const auto& change : changes) {
    Job run;
    for (const char* text : change) set_field(run, text);
    const std::string text = yaml_text(to_yaml(run));
    EXPECT_EQ(read<Job>(text), run) << text;
    EXPECT_EQ(yaml_text(to_yaml(read<Job>(text))), text);
  }
}

TEST(Fields, DescribesEachField) {
  std::string lines;
  for (const FieldInfo& f : describe(Job()))
    lines += fmt::format("{}|{}|{}|{}\n", f.path, f.value, f.rule, f.help);
  EXPECT_EQ(lines,
            "model|\"\"||which model\n"
            "adapter|||what is trained\n"
            "adapter.kind|lora|lora | none|how\n"
            "adapter.rank|16|1 to 64|rank\n"
            "adapter.alpha|32.0|above 0|scale\n"
            "adapter.betas|[0.9, 0.999]|0 to 1|decay\n"
            "adapter.targets|[all-linear]||which\n"
            "train|[]||training data\n"
            "train[].path|\"\"||file\n"
            "train[].weight|1.0|above 0|share\n"
            "length|||how long\n"
            "length.epochs|1.0|above 0|passes\n"
            "length.steps|null|at least 1|steps\n"
            "mesh|auto||devices\n"
            "mesh.data|1|at least 1|copies\n"
            "mesh.tensor|1|at least 1|parts\n"
            "note|null||free text\n"
            "packing|false||pack\n");
}

TEST(Nearest, CountsEditsAndSuggests) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("form", "from"), 1u);
  const std::vector<std::string_view> names = {"rank", "alpha", "max-tokens", "rope_theta"};
  const struct {
    const char *word, *name;
  } cases[] = {
      {"rnak", "rank"},
      {"ranks", "rank"},
      {"r", ""},
      {"alhpa", "alpha"},
      {"Max_Token", "max-tokens"},
      {"theta", ""},
      {"", ""},
      {"rope-theta", "rope_theta"},
  };
  for (const auto& c : cases) EXPECT_EQ(nearest(c.word, names), c.name) << c.word;
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), names), "");
  EXPECT_EQ(did_you_mean("alpa", names), "; did you mean \"alpha\"?");
  EXPECT_EQ(did_you_mean("zzz", names), "");
}

TEST(Quote, IsOnePrintableLine) {
  const struct {
    std::string text, quoted;
  } cases[] = {
      {"abc", "\"abc\""},
      {"a\nb\t\x1b\x7f", "\"a\\x0ab\\x09\\x1b\\x7f\""},
      {"\"\\", "\"\\\"\\\\\""},
      {"é你😀", "\"é你😀\""},
      {"\xc2\x9b", "\"\\xc2\\x9b\""},
      {"\xff\xc3", "\"\\xff\\xc3\""},
      {"\xe0\x80\x80", "\"\\xe0\\x80\\x80\""},
      {std::string("\0", 1), "\"\\x00\""},
      {std::string(81, 'x'), "\"" + std::string(80, 'x') + "...\""},
  };
  for (const auto& c : cases) EXPECT_EQ(quote(c.text), c.quoted);
  EXPECT_TRUE(valid_utf8("é你😀"));
  for (const char* bad : {"\xf4\x90\x80\x80", "\xed\xa0\x80", "\xc0\xaf", "\xe4\xbd", "\x80"})
    EXPECT_FALSE(valid_utf8(bad));
}

TEST(Shortest, ReadsBackExactly) {
  const struct {
    double value;
    const char* text;
  } cases[] = {{0, "0.0"},        {32, "32.0"},          {0.1, "0.1"},
               {1e-8, "1.0e-08"}, {1.5e300, "1.5e+300"}, {-2.5, "-2.5"}};
  for (const auto& c : cases) EXPECT_EQ(shortest(c.value), c.text);
}

}  // namespace
}  // namespace hone
