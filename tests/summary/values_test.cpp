// Histograms, images, texts, sound, curves, graphs, hyperparameters, embeddings: what is written is read again, and
// what is wrong is refused.
#include "tandem/graph/trace/function.hpp"
#include "tandem/image/decode.hpp"
#include "tandem/io/file.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/summary/functions.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;

namespace {

struct Run {
  testing::TemporaryFolder folder;
  summary::FileWriter writer;
  explicit Run(summary::FileWriterOptions options = {}) : writer(folder.path, std::move(options)) {}
  template <class T>
  std::vector<T> read() {
    writer.flush();
    std::vector<T> r;
    for (const auto& w : testing::values_of(folder.path)) r.push_back(std::get<T>(w.value.content));
    return r;
  }
};
template <class F>
std::string refused(const F& f) {
  return testing::error_of<errors::InvalidArgumentError>(f);
}
const float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("summary: histograms have buckets of one width") {
  for (const bool simple : {false, true}) {
    Run run({.simple_values = simple});
    run.writer.histogram("h", constant({0.f, 1.f, 1.5f, 4.f, std::nanf(""), infinity}), {.step = 1, .buckets = 4});
    run.writer.histogram("same", fill({3}, 2.5f), {.step = 1, .buckets = 3});
    run.writer.histogram("none", zeros({0}), {.step = 1, .buckets = 2});
    const double most = std::numeric_limits<double>::max();
    run.writer.histogram("wide", constant({-most, 0.0, most}, float64), {.step = 1, .buckets = 2});
    run.writer.histogram("ints", range(100), {.step = 1});
    const auto h = run.read<summary::Histogram>();
    REQUIRE(h.size() == 5);
    CHECK(h[3].buckets == std::vector<summary::HistogramBucket>{{-most, 0, 1}, {0, most, 2}});
    using Buckets = std::vector<summary::HistogramBucket>;
    CHECK(h[0].buckets == Buckets{{0, 1, 1}, {1, 2, 2}, {2, 3, 0}, {3, 4, 1}});
    if (!simple) CHECK(h[1].buckets == Buckets{{2.5, 2.5, 0}, {2.5, 2.5, 0}, {2.5, 2.5, 3}});
    else CHECK(h[1].buckets == Buckets{{2.5, 2.5, 3}});
    if (!simple) CHECK(h[2].buckets == Buckets{{0, 0, 0}, {0, 0, 0}});
    REQUIRE(h[4].buckets.size() == 30);
    double sum = 0;
    for (const auto& b : h[4].buckets) sum += b.count;
    CHECK(sum == 100);
    CHECK((h[4].buckets[0].left == 0 && h[4].buckets[29].right == 99));
    CHECK_THAT(refused([&] { run.writer.histogram("h", constant({"a"}), {.step = 1}); }),
               ContainsSubstring("takes real numbers"));
    CHECK_THAT(refused([&] { run.writer.histogram("h", ones({1}), {.step = 1, .buckets = 0}); }),
               ContainsSubstring("buckets must be 1 to 2^20"));
  }
}

TEST_CASE("summary: images are PNG files") {
  Run run;
  const Tensor bytes = cast(reshape(range(5 * 2 * 4 * 3), {5, 2, 4, 3}), uint8);
  run.writer.image("bytes", bytes, {.step = 2});
  run.writer.image("floats", constant({{{{0.f}, {0.5f}, {1.f}, {7.f}}}}), {.step = 2, .max_outputs = 1});
  run.writer.image("alpha", zeros({1, 1, 1, 4}, uint8), {.step = 2});
  run.writer.image("none", zeros({0, 1, 1, 4}, uint8), {.step = 2});
  const auto images = run.read<summary::Images>();
  REQUIRE(images.size() == 4);
  CHECK((images[0].width == 4 && images[0].height == 2));
  REQUIRE(images[0].encoded.size() == 3);  // max_outputs
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(reduce_all(equal(image::decode_png(images[0].encoded[i]), bytes[static_cast<i64>(i)])).item<bool>());
  CHECK(image::decode_png(images[1].encoded.at(0)).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{0, 127, 255, 255});
  CHECK(image::decode_png(images[2].encoded.at(0)).shape() == Shape{1, 1, 4});
  CHECK(images[3].encoded.empty());
  for (const Tensor& wrong : {ones({2, 4, 3}), ones({1, 2, 4, 2}), ones({1, 0, 4, 3})})
    CHECK_THAT(refused([&] { run.writer.image("x", wrong, {.step = 1}); }),
               ContainsSubstring("image: takes images [n, height, width, 1, 3 or 4]"));
  CHECK_THAT(refused([&] {
               run.writer.image("x", ones({1, 1, 1, 1}, int32), {.step = 1});
             }),
             ContainsSubstring("images of uint8, or floating ones in [0, 1], not int32[1,1,1,1]"));
}

TEST_CASE("summary: texts and tables of them") {
  Run run;
  run.writer.text("note", "a *b*\n\xc3\xa4", {.step = 1, .description = "what"});
  run.writer.text("table", constant({{"a", "b"}, {"c", ""}}), {.step = 1});
  const auto texts = run.read<summary::Texts>();
  REQUIRE(texts.size() == 2);
  CHECK((texts[0].shape.empty() && texts[0].texts == std::vector<std::string>{"a *b*\n\xc3\xa4"}));
  CHECK((texts[1].shape == std::vector<i64>{2, 2} && texts[1].texts == std::vector<std::string>{"a", "b", "c", ""}));
  CHECK(testing::values_of(run.folder.path)[0].value.description == "what");
  CHECK_THAT(refused([&] { run.writer.text("note", "\xff", {.step = 1}); }), ContainsSubstring("not UTF-8"));
  CHECK_THAT(refused([&] { run.writer.text("new", "a", {.step = 1, .description = "\xff"}); }),
             ContainsSubstring("the description \"\\xff\" is not UTF-8"));
  CHECK_THROWS_AS(run.writer.text("note", ones({1}), {.step = 1}), errors::InvalidArgumentError);
}

TEST_CASE("summary: sound is WAV files of 16 bits") {
  Run run;
  run.writer.audio("a", constant({{{0.f, 1.f}, {-1.f, 0.5f}, {-3.f, std::nanf("")}}}), 8000, {.step = 1});
  const auto audio = run.read<summary::Audio>();
  REQUIRE(audio.size() == 1);
  REQUIRE(audio[0].encoded.size() == 1);
  const std::string& wav = audio[0].encoded[0];
  REQUIRE(wav.size() == 44 + 12);
  CHECK((wav.substr(0, 4) == "RIFF" && wav.substr(8, 8) == "WAVEfmt " && wav.substr(36, 4) == "data"));
  std::int16_t samples[6];
  std::memcpy(samples, wav.data() + 44, 12);
  CHECK(std::vector<std::int16_t>(samples, samples + 6) ==
        std::vector<std::int16_t>{0, 32767, -32768, 16384, -32768, 0});
  CHECK_THROWS_AS(run.writer.audio("a", ones({3, 2}), 8000, {.step = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(run.writer.audio("a", ones({1, 3, 2}), 0, {.step = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(run.writer.audio("a", ones({1, 3, 2}, int32), 1, {.step = 1}), errors::InvalidArgumentError);
}

TEST_CASE("summary: precision and recall") {
  Run run;
  run.writer.pr_curve("pr", constant({true, false, true, false}), constant({0.9f, 0.4f, 0.4f, 0.1f}),
                      {.step = 1, .num_thresholds = 3});
  const auto other = run.read<summary::OtherValue>();
  REQUIRE(other.size() == 1);
  // At 0, 0.5 and 1: true positives, false positives, true negatives, false negatives, precision, recall.
  const std::vector<float> rows{2, 1, 0, 2, 0, 0, 0, 2, 2, 0, 1, 2, 0.5, 1, 0, 1, 0.5, 0};
  const std::string bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * 4);
  CHECK(other[0].bytes.ends_with("\x22\x48" + bytes));
  const auto value = testing::values_of(run.folder.path)[0].value;
  CHECK((value.plugin == "pr_curves" && value.plugin_content == "\x10\x03"));
  const auto wrong = [&](const Tensor& labels, const Tensor& predictions) {
    return refused([&] { run.writer.pr_curve("pr", labels, predictions, {.step = 1}); });
  };
  CHECK_THAT(wrong(constant({true}), constant({1.5f})), ContainsSubstring("a prediction is not in [0, 1]"));
  CHECK_THAT(wrong(constant({2}), constant({0.5f})), ContainsSubstring("a label is neither 0 nor 1"));
  CHECK_THAT(wrong(constant({1, 0}), constant({0.5f})), ContainsSubstring("different shapes"));
  CHECK_THAT(wrong(constant({1}), constant({1})), ContainsSubstring("floating predictions"));
}

TEST_CASE("summary: the graph of a traced function") {
  const Variable w(ones({3, 2}), {.name = "w"});
  const auto f = function([&](const Tensor& x) {
    const name_scope dense("dense");
    return nn::relu(matmul(x, w));
  });
  Run run({.graph = f.get_concrete_function(ones({4, 3}))});
  run.writer.flush();
  const auto events = summary::read_events(run.folder.path);
  REQUIRE(events.size() == 2);
  CHECK(events[0].file_version == "brain.Event:2");
  for (const char* const part : {"dense/", "_output_shapes", "matmul", "relu"})
    CHECK_THAT(events[1].graph, ContainsSubstring(part));
}

TEST_CASE("summary: hyperparameters") {
  Run run;
  run.writer.hparams_config({{"lr", {0.1, 0.01}, "learning rate"}, {"opt", {"sgd", "adam"}}, {"free"}},
                            {{"loss", "Loss", "validation"}});
  run.writer.hparams({{"lr", 0.1}, {"opt", "adam"}, {"nesterov", true}, {"layers", 3}}, {.start_seconds = 2});
  run.writer.hparams_end(summary::Status::success);
  CHECK(run.read<summary::OtherValue>().size() == 3);
  const auto values = testing::values_of(run.folder.path);
  CHECK(values[0].value.tag == "_hparams_/experiment");
  CHECK(values[1].value.tag == "_hparams_/session_start_info");
  CHECK_THAT(values[1].value.plugin_content, ContainsSubstring("\x0a\x03opt\x12\x06\x1a\x04"
                                                               "adam"));
  CHECK(values[2].value.tag == "_hparams_/session_end_info");
  CHECK_THROWS_AS(run.writer.hparams_config({{"x", {1, "a"}}}, {}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(run.writer.hparams({{"x", "\xff"}}), errors::InvalidArgumentError);
}

TEST_CASE("summary: embeddings are files for the projector") {
  Run run;
  const Tensor x = constant({{1.f, 0.5f}, {-2.f, 1e-7f}});
  run.writer.embedding("words/in", x, {.labels = {"a", " "}});
  run.writer.embedding("table", x, {.columns = {"word", "count"}, .metadata = {{"a", "1"}, {"b\tc", "2"}}});
  const auto file = [&](const std::string& name) { return io::read_file(run.folder / name); };
  CHECK(file("words%2Fin.tsv") == "1\t0.5\n-2\t1e-07\n");
  CHECK(file("words%2Fin.metadata.tsv") == "a\n\" \"\n");
  CHECK(file("table.metadata.tsv") == "word\tcount\na\t1\n\"b\\tc\"\t2\n");
  CHECK(file("projector_config.pbtxt") ==
        "embeddings {\n  tensor_name: \"table\"\n  tensor_path: \"table.tsv\"\n  metadata_path: "
        "\"table.metadata.tsv\"\n}\n"
        "embeddings {\n  tensor_name: \"words/in\"\n  tensor_path: \"words%2Fin.tsv\"\n  metadata_path: "
        "\"words%2Fin.metadata.tsv\"\n}\n");
  run.writer.embedding("a", x, {.labels = {"first", "second"}}), run.writer.embedding("a_metadata", x);
  CHECK(file("a.metadata.tsv") == "first\nsecond\n");  // not the file of the other name
  CHECK_THAT(refused([&] { run.writer.embedding("x", x, {.labels = {"a"}}); }),
             ContainsSubstring("embedding: 1 labels for 2 rows"));
  CHECK_THROWS_AS(run.writer.embedding("x", ones({3})), errors::InvalidArgumentError);
  CHECK_THROWS_AS(run.writer.embedding("", x), errors::InvalidArgumentError);
  CHECK_THROWS_AS(run.writer.embedding("x", x, {.columns = {"a", "b"}, .metadata = {{"a"}, {"b"}}}),
                  errors::InvalidArgumentError);
  run.writer.close();
  CHECK_THROWS_AS(run.writer.embedding("late", x), errors::FailedPreconditionError);
  CHECK(!std::filesystem::exists(run.folder / "late.tsv"));
}

TEST_CASE("summary: all functions write to the scope's writer, or do nothing") {
  const auto f = function([](const Tensor& x) { return x * 2.f; });
  const auto traced = f.get_concrete_function(ones({2}));
  const Tensor x = ones({2, 2});
  const auto written = [&] {
    const bool all[] = {summary::scalar("a", 1, {.step = 1}),
                        summary::scalar("b", constant(1), {.step = 1}),
                        summary::histogram("c", x, {.step = 1}),
                        summary::image("d", ones({1, 1, 1, 1}), {.step = 1}),
                        summary::text("e", "text", {.step = 1}),
                        summary::text("f", constant({"text"}), {.step = 1}),
                        summary::audio("g", ones({1, 1, 1}), 8000, {.step = 1}),
                        summary::pr_curve("h", x, x, {.step = 1}),
                        summary::graph(*traced),
                        summary::hparams({{"lr", 1}}),
                        summary::hparams_config({}, {}),
                        summary::embedding("i", x)};
    return std::vector<bool>(std::begin(all), std::end(all));
  };
  CHECK(written() == std::vector<bool>(12, false));
  Run run;
  const auto scope = run.writer.as_default();
  CHECK(written() == std::vector<bool>(12, true));
  CHECK(run.writer.stats().events == 12);  // the embedding is in files, the version is an event
}
