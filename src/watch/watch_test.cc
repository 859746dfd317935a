#include "watch/watch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "base/error.h"
#include "watch/curves.h"
#include "watch/prometheus.h"
#include "watch/report_page.h"
#include "watch/tensorboard.h"

namespace hone::watch {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Left behind, so that tools/check_tensorboard.py can read what a test has written.
fs::path new_folder(const std::string& name) {
  const fs::path folder =
      fs::path(testing::TempDir()) / ("hone_watch_" + std::to_string(getpid()) + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

Step step_of(int64_t n, int64_t steps) {
  const auto x = static_cast<double>(n);
  return {.step = n,
          .steps = steps,
          .loss = 2 / x,
          .grad_norm = 1 + 1 / x,
          .learning_rate = 1e-3,
          .epoch = x / 100,
          .tokens = 300,
          .targets = 225,
          .tokens_per_second = 160.5};
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& e : fs::directory_iterator(folder)) out.push_back(e.path().string());
  return out;
}

// What hostile data may bring into a file or a page.
const std::string kHostile = "</pre><script>alert(\"1\")</script>\n\xff\xfe'&amp; \x01 ${x}";

TEST(MetricsFile, StepLinesHaveTheirKeysAndOthersAKind) {
  const fs::path file = new_folder("metrics") / "metrics.jsonl";
  {
    MetricsFile metrics(file);
    metrics.take(step_of(1, 9));
    metrics.take(Evaluation{.step = 1, .loss = 0.5, .perplexity = std::exp(0.5)});
    Step nan = step_of(2, 9);
    nan.loss = NAN;
    nan.metrics = {{"margin", 0.25}, {"loss", 7}};
    metrics.take(nan);
  }
  MetricsFile(file).take(Sample{.step = 2, .prompt = "a", .expected = "b", .answer = "\xff"});
  EXPECT_EQ(read_file(file),
            "{\"step\":1,\"loss\":2.0,\"grad_norm\":2.0,\"learning_rate\":0.001,\"epoch\":0.01,"
            "\"targets\":225,\"tokens_per_second\":160.5}\n"
            "{\"kind\":\"evaluation\",\"step\":1,\"loss\":0.5,\"perplexity\":1.6487212707001282}\n"
            "{\"step\":2,\"loss\":null,\"grad_norm\":1.5,\"learning_rate\":0.001,\"epoch\":0.02,"
            "\"targets\":225,\"tokens_per_second\":160.5,\"margin\":0.25}\n"
            "{\"kind\":\"sample\",\"step\":2,\"prompt\":\"a\",\"expected\":\"b\",\"answer\":"
            "\"\xef\xbf\xbd\"}\n");
  EXPECT_THROW(MetricsFile(file.parent_path()), FileError);
  EXPECT_THROW(MetricsFile("/dev/full").take(Line{}), FileError);
}

TEST(Protobuf, BytesAreThoseOfTheFormat) {
  EXPECT_EQ(Protobuf().varint(1, 150).text(), std::string("\x08\x96\x01"));
  EXPECT_EQ(Protobuf().bytes(2, "testing").text(), "\x12\x07testing");
  EXPECT_EQ(Protobuf().number(2, 1.0F).text(), std::string("\x15\0\0\x80\x3f", 5));
  EXPECT_EQ(Protobuf().number(1, 1.0).text(), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
  EXPECT_EQ(Protobuf().message(3, Protobuf().varint(1, 150)).text(),
            std::string("\x1a\x03\x08\x96\x01"));
  EXPECT_EQ(Protobuf().varint(16, 0).text(), std::string("\x80\x01\0", 3));
}

// The framing here, the meaning by TensorBoard itself: tools/check_tensorboard.py.
TEST(TensorBoard, RecordsAreFramedAndWhole) {
  const fs::path folder = new_folder("tensorboard");
  const std::vector<double> norms = {0.1, 0.2, 0.2, NAN, 3, INFINITY};
  const auto unexpected = [](const std::string& line) { ADD_FAILURE() << line; };
  {
    Watch watch(folder, {.every = 10, .tensorboard = true}, 0, nullptr, unexpected);
    for (int64_t n = 1; n <= 40; ++n) watch.take(step_of(n, 40));
    watch.take(Evaluation{.step = 40, .loss = 0.5, .perplexity = std::exp(0.5)});
    watch.take(Sample{.step = 40, .prompt = kHostile, .expected = "b", .answer = "two\nlines"});
    watch.take(Histogram{.step = 40, .name = "norms/adapter", .values = norms});
    watch.take(Histogram{.step = 40, .name = "norms/same", .values = {2, 2}});
    watch.take(Histogram{.step = 40, .name = "norms/none", .values = {NAN}});
  }
  size_t records = 0;
  for (const std::string& path : files_in(folder / "tensorboard")) {
    std::string_view bytes;
    const std::string all = read_file(path);
    for (bytes = all; bytes.size() >= 16; ++records) {
      uint64_t size = 0;
      uint32_t of_size = 0, of_data = 0;
      std::memcpy(&size, bytes.data(), 8);
      std::memcpy(&of_size, bytes.data() + 8, 4);
      ASSERT_EQ(of_size, masked_crc32c(bytes.substr(0, 8)));
      ASSERT_LE(size + 16, bytes.size());
      std::memcpy(&of_data, bytes.data() + 12 + size, 4);
      ASSERT_EQ(of_data, masked_crc32c(bytes.substr(12, size)));
      bytes.remove_prefix(size + 16);
    }
    EXPECT_TRUE(bytes.empty());
  }
  EXPECT_EQ(records, 1u + 5 + 1 + 1 + 2);  // the version; steps 1, 10, 20, 30, 40; the others
}

// Goes on from step 20 with other losses; metrics.jsonl is cut there, as the run's folder does it.
TEST(TensorBoard, ARunThatGoesOnIsASecondFile) {
  const fs::path folder = new_folder("tensorboard_resumed");
  const Options options{.every = 10, .tensorboard = true};
  const auto unexpected = [](const std::string& line) { ADD_FAILURE() << line; };
  {
    Watch watch(folder, options, 0, nullptr, unexpected);
    for (int64_t n = 1; n <= 40; ++n) watch.take(step_of(n, 50));
  }
  const std::string metrics = read_file(folder / "metrics.jsonl");
  write_file(folder / "metrics.jsonl", metrics.substr(0, metrics.find("{\"step\":30")));
  Watch watch(folder, options, 20, nullptr, unexpected);
  for (int64_t n = 21; n <= 50; ++n) {
    Step s = step_of(n, 50);
    s.loss = 7;
    watch.take(s);
  }
  EXPECT_EQ(files_in(folder / "tensorboard").size(), 2u);
}

std::string ask(int port, const std::string& request, bool half = false) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  const size_t middle = half ? request.size() / 2 : request.size();
  for (const auto& part : {request.substr(0, middle), request.substr(middle)})
    EXPECT_GE(send(fd, part.data(), part.size(), MSG_NOSIGNAL), 0);
  std::string out;
  char bytes[4096];
  for (ssize_t n = 0; (n = recv(fd, bytes, sizeof bytes, 0)) > 0;)
    out.append(bytes, static_cast<size_t>(n));
  close(fd);
  return out;
}

TEST(Prometheus, AnswersWhatItMayAndNothingElse) {
  const Goodput goodput;
  Prometheus p(0, &goodput);
  const struct {
    std::string request, reply;
  } table[] = {
      {"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
      {"GET /metrics?a=b HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
      {"GET /health HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
      {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 404"},
      {"GET /../etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404"},
      {"POST /metrics HTTP/1.1\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 405"},
      {"GET  HTTP/1.1\r\n\r\n", "HTTP/1.1 404"},
      {"GET\r\n\r\n", "HTTP/1.1 400"},
      {"\r\n\r\n", "HTTP/1.1 400"},
      {"GET /metrics SPDY/9\r\n\r\n", "HTTP/1.1 400"},
      {"GET /" + std::string(4200, 'a'), "HTTP/1.1 431"},
  };
  for (const auto& c : table)
    for (const bool half : {false, true})
      EXPECT_THAT(ask(p.port(), c.request, half), StartsWith(c.reply)) << c.request;
  EXPECT_THAT(ask(p.port(), table[2].request), HasSubstr("\r\n\r\nok\n"));
  EXPECT_THROW(Prometheus(p.port(), nullptr), Error);
}

TEST(Prometheus, SilentConnectionsDoNotKeepOthersOut) {
  const Prometheus p(0, nullptr);
  std::vector<int> silent;
  for (int i = 0; i < 15; ++i) {
    const int fd = silent.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(p.port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  EXPECT_THAT(ask(p.port(), "GET /health HTTP/1.1\r\n\r\n"), HasSubstr("ok"));
  for (const int fd : silent) close(fd);
}

TEST(Prometheus, CountersOnlyRise) {
  Prometheus p(0, nullptr);
  EXPECT_THAT(p.text(), Not(HasSubstr("hone_train_loss")));
  Step s = step_of(1, 9);
  s.metrics = {{"reward \"x\"\n", 0.5}};
  p.take(s);
  s.tokens = INT64_MIN;
  s.targets = -5;
  s.loss = INFINITY;
  p.take(s);
  p.take(Evaluation{.step = 2, .loss = NAN, .perplexity = 1});
  for (const char* line :
       {"\nhone_train_tokens_total 300\n", "\nhone_train_targets_total 225\n",
        "\nhone_train_loss +Inf\n", "\nhone_train_eval_loss NaN\n", "\nhone_train_step 1\n",
        "\nhone_train_processed_steps_total 2\n", "# TYPE hone_train_tokens_total counter\n",
        "hone_train_metric{name=\"reward \\\"x\\\"\\n\"} 0.5\n"})
    EXPECT_THAT(p.text(), HasSubstr(line));
}

// Files may not grow beyond a size: the event file is at it, metrics.jsonl is not.
TEST(Watch, WhatFailsIsSaidOnceAndTheRunGoesOn) {
  const fs::path folder = new_folder("failing");
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  Watch watch(folder, {.every = 1, .tensorboard = true}, 0, nullptr, say);
  for (int i = 0; i < 20; ++i) watch.take(Histogram{.step = 1, .name = "n", .values = {1, 2}});
  EXPECT_TRUE(said.empty());

  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  const auto old = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  for (int64_t n = 1; n <= 3; ++n) watch.take(step_of(n, 3));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old);

  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("events.out.tfevents"));
  const std::string metrics = read_file(folder / "metrics.jsonl");
  EXPECT_EQ(std::ranges::count(metrics, '\n'), 3);
}

TEST(Watch, APortThatIsTakenIsOneClearLine) {
  const fs::path folder = new_folder("port");
  const Prometheus other(0, nullptr);
  const auto say = [](const std::string&) {};
  try {
    Watch(folder, {.metrics_port = other.port()}, 0, nullptr, say);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()),
              fmt::format("cannot listen on 127.0.0.1:{}: Address already in use; give another "
                          "port, or 0 for none",
                          other.port()));
  }
}

TEST(Goodput, PhasesNestAndAddUp) {
  Goodput goodput;
  {
    const auto evaluation = goodput.in(Phase::kEvaluation);
    const auto data = goodput.in(Phase::kData);
    while (goodput.report().seconds[static_cast<size_t>(Phase::kData)] < 0.01) {
    }
  }
  const double before = goodput.report().seconds[static_cast<size_t>(Phase::kData)];
  while (goodput.report().seconds[static_cast<size_t>(Phase::kOther)] < 0.01) {
  }
  const GoodputReport r = goodput.report();
  EXPECT_EQ(r.seconds[static_cast<size_t>(Phase::kData)], before);  // it has ended
  EXPECT_EQ(r.share(Phase::kStep), 0);
  double shares = 0;
  for (size_t i = 0; i < kPhases; ++i) shares += r.share(static_cast<Phase>(i));
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_GT(r.peak_memory_bytes, 1 << 20);
  EXPECT_EQ(r.json().at("seconds").size(), kPhases);
}

TEST(Curves, SmoothingHasNoBiasAndKeepsGaps) {
  Points points;
  for (int i = 0; i < 60; ++i) points.emplace_back(i, i == 30 ? NAN : 5);
  const Points s = smoothed(points);
  ASSERT_EQ(s.size(), 60u);
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(std::isnan(s[i].second), i == 30) << i;
  EXPECT_NEAR(s[1].second, 5, 1e-12);
  EXPECT_NEAR(s[59].second, 5, 1e-12);
}

TEST(Curves, ThinningKeepsTheExtremes) {
  Points points;
  for (int i = 0; i < 10000; ++i) points.emplace_back(i, i == 7777 ? 99 : i == 123 ? -99 : i % 7);
  const Points t = thinned(points, 700);
  EXPECT_LE(t.size(), 702u);
  EXPECT_THAT(t, testing::Contains(std::pair(7777.0, 99.0)));
  EXPECT_THAT(t, testing::Contains(std::pair(123.0, -99.0)));
  EXPECT_TRUE(std::ranges::is_sorted(t, {}, &Points::value_type::first));
}

TEST(Curves, NumbersAreShort) {
  const std::pair<double, const char*> table[] = {
      {0, "0"},          {0.08375575, "0.08376"},  {1.2e-5, "1.2e-05"}, {999.96, "1000"},
      {24310, "24,310"}, {-1234567, "-1,234,567"}, {1e12, "1e+12"},     {NAN, "&ndash;"}};
  for (const auto& [value, text] : table) EXPECT_EQ(short_number(value), text);
}

struct PageCase {
  std::string name, metrics, recipe, report, wanted;
};

TEST(Report, CopesWithAnyFolder) {
  const std::string step = R"({"step":1,"loss":1.5,"grad_norm":1,"learning_rate":0})";
  const std::vector<PageCase> table = {
      {"empty", "", "", "", "no value yet"},
      {"one step", step + "\n", "model: a\n", "", "<svg"},
      {"being written", step + "\n{\"step\":2,\"lo", "", "", "1 step <"},
      {"no numbers", "{\"step\":1,\"loss\":null}\n{\"step\":2,\"loss\":null}\n", "", "",
       "no value yet"},
      {"a gap", step + "\n{\"step\":2,\"loss\":null}\n{\"step\":3,\"loss\":1.2}\n", "", "", "<svg"},
      {"no JSON", "what\n[]\n{}\n{\"step\":\"x\"}\n" + step + "\n", ": : :", "{", "4 lines"},
      {"huge", "{\"step\":9223372036854775807,\"loss\":1.7e308}\n{\"step\":-5,\"loss\":-1e299}\n",
       "", "", "<svg"},
      {"nearly equal", "{\"step\":1,\"loss\":1e17}\n{\"step\":2,\"loss\":100000000000000016}\n", "",
       "", "<svg"},
      {"odd report", step + "\n", "length: {steps: 7}\n",
       R"({"goodput":[1],"steps":"x","a":{"b":{"c":{"d":{"e":{"f":1}}}}},"l":[1,2]})", "of 7"},
      {"odd goodput", step + "\n", "", R"({"goodput":{"seconds":{"step":-1,"data":2}}})", "100.0%"},
  };
  for (const PageCase& c : table) {
    SCOPED_TRACE(c.name);
    const fs::path folder = new_folder("page");
    write_file(folder / "metrics.jsonl", c.metrics);
    if (!c.recipe.empty()) write_file(folder / "recipe.yaml", c.recipe);
    if (!c.report.empty()) write_file(folder / "report.json", c.report);
    const std::string html = report_html(read_run(folder));
    EXPECT_THAT(html, HasSubstr(c.wanted));
    EXPECT_THAT(html, Not(HasSubstr("nan")));
    EXPECT_THAT(html, testing::EndsWith("</body></html>\n"));
  }
  std::printf("%zu folders\n", table.size());
  EXPECT_GE(table.size(), 10u);
  EXPECT_THROW(read_run(new_folder("none")), FileError);
}

TEST(Report, EscapesWhateverTheRunSaw) {
  const fs::path folder = new_folder("hostile") / "<script>alert(2)";
  fs::create_directories(folder);
  {
    MetricsFile metrics(folder / "metrics.jsonl");
    Step s = step_of(1, 1);
    s.metrics = {{kHostile, 1}};
    metrics.take(s);
    metrics.take(Evaluation{.step = 1, .loss = 1, .perplexity = 1, .metrics = {{kHostile, 2}}});
    metrics.take(Sample{.step = 1, .prompt = kHostile, .expected = kHostile, .answer = kHostile});
    metrics.take(Line{.step = 1, .text = kHostile});
  }
  write_file(folder / "recipe.yaml", "model: \"<script>alert(1)\"\n# " + kHostile);
  write_file(folder / "report.json", R"({"<script>":"<script>","x":["<script>"],"steps":1})");
  write_file(folder / "data.json",
             R"({"<script>":{"lengths":[{"upto":8,"samples":3}],"note":"<script>"}})");
  const std::string html = report_html(read_run(folder));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(&quot;1&quot;)"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  for (const char* elsewhere : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(elsewhere)));
}

}  // namespace
}  // namespace hone::watch
