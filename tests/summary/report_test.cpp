// write_report: curves, the latest of other values, sections, restarts.
#include "tandem/summary/report.hpp"

#include <cmath>
#include <limits>

#include "tandem/graph/debug/graph_def.hpp"
#include "tandem/io/file.hpp"
#include "tandem/plot/heat_map.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/plugin_data.hpp"
#include "tandem/summary/wire.hpp"
#include "tandem/tandem.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace report_test {
using namespace tandem;
using testing::bytes_of_file, testing::error_of, testing::TemporaryFolder;

bool has(const std::string& page, const std::string& text) { return page.find(text) != page.npos; }
int count_of(const std::string& page, const std::string& text) {
  int n = 0;
  for (std::size_t at = 0; (at = page.find(text, at)) != page.npos; at += text.size()) ++n;
  return n;
}

TEST_CASE("a report has a picture for each tag, with a curve for each folder") {
  const TemporaryFolder folder;
  {
    summary::FileWriter train(folder / "train"), validation(folder / "validation");
    for (i64 step = 0; step < 20; ++step) {
      train.scalar("loss", 1. / double(step + 1), step);
      if (step % 5 == 4) validation.scalar("loss", 1.1 / double(step + 1), step);
      train.scalar("time/step", 0.25, step);
    }
    train.histogram("weights", random::Generator(1).normal({1000}), {.step = 7});
    train.histogram("weights", random::Generator(1).normal({1000}), {.step = 9});
    train.image("pictures", zeros({2, 4, 4, 1}), {.step = 3});
    train.text("note", "<b>bold</b>", {.step = 1});
  }
  const std::string path =
      summary::write_report(folder.path, folder / "page.html", {.title = "A & B", .facts = {{"seed", "17"}}});
  CHECK(path == folder / "page.html");
  const std::string page = bytes_of_file(path);
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(has(page, "A &amp; B"));
  CHECK(has(page, "<td>17</td>"));
  CHECK(has(page, "stroke-dasharray"));   // held-out values
  CHECK(count_of(page, "<figure") == 5);  // loss, time/step, weights, two pictures
  CHECK(count_of(page, "data:image/png;base64,") == 2);
  CHECK(has(page, "&lt;b&gt;bold"));
  CHECK(!has(page, "<b>bold"));
  CHECK(has(page, "weights of train, step 9"));
  CHECK(!has(page, "step 7"));
  CHECK(has(page, ">time<"));  // a section
  CHECK(!has(page, "<script"));
  CHECK(summary::write_report(folder.path) == folder / "report.html");
}

TEST_CASE("a report shows a tensor of texts as a table") {
  const TemporaryFolder folder;
  {
    summary::FileWriter w(folder.path);
    w.text("rows", constant({{"word", "<near>"}, {"day", "night"}}), {.step = 1});
    w.text("list", constant({"one", "two"}), {.step = 2});
    w.text("cube", reshape(constant({"in", "lines"}), {1, 2, 1}), {.step = 3});
    w.text("none", zeros({0, 2}, DType::string), {.step = 4});
  }
  const std::string page = summary::report_html(folder.path);
  CHECK(has(page,
            "<table>\n<caption>rows, step 1</caption>\n<tbody>\n<tr><td>word</td><td>&lt;near&gt;</td></tr>\n"
            "<tr><td>day</td><td>night</td></tr>\n</tbody></table>"));
  CHECK(has(page, "<caption>list, step 2</caption>\n<tbody>\n<tr><td>one</td></tr>\n<tr><td>two</td></tr>\n"));
  CHECK(count_of(page, "<caption>") == 2);
  for (const char* text : {"cube, step 3:", "lines", "none, step 4:"}) CHECK(has(page, text));
}

TEST_CASE("a report has precision-recall curves, and what the program has drawn") {
  const TemporaryFolder folder;
  {
    summary::FileWriter curves(folder.path);
    curves.pr_curve("pr", constant({true, false, true}), constant({0.9f, 0.2f, 0.4f}), {.step = 1});
    curves.pr_curve("pr", constant({true, false, true}), constant({0.9f, 0.2f, 0.7f}), {.step = 2});
  }
  const plot::Figure matrix =
      plot::confusion_matrix(constant({{7, 1}, {0, 5}}), {"cat", "dog"}, {.title = "Confusion"});
  const std::string page = summary::report_html(folder.path, {.figures = {matrix}});
  CHECK(count_of(page, "<figure") == 2);
  CHECK(has(page, "Confusion"));
  CHECK(has(page, "dog"));
  CHECK(has(page, "precision"));
  CHECK(has(page, "pr, step 2"));
  CHECK(!has(page, "step 1"));
  // Of another program.
  io::TFRecordWriter file(folder / "events.out.tfevents.1");
  file.write([] {
    using namespace summary::detail;
    std::string event;
    append_message(event, 5, [&] {
      append_message(event, 1, [&] {
        append_field(event, 1, "odd");
        event += metadata_of({.name = "pr_curves", .data_class = 2}, {});
        event += tensor_value(float32, {3, 1}, std::string(12, '\0'));
      });
    });
    return event;
  }());
  file.close();
  CHECK(has(summary::report_html(folder.path), "odd, step 0 cannot be shown"));
}

TEST_CASE("a report plays sounds, as far as there is room for them") {
  const TemporaryFolder folder;
  {
    summary::FileWriter writer(folder.path);
    writer.audio("tone", zeros({2, 400, 1}), 8000, {.step = 1});  // 844 bytes each
    writer.audio("tone", zeros({2, 400, 1}), 8000, {.step = 3});
    writer.audio("word", zeros({1, 800, 2}), 8000, {.step = 3});  // 3,244 bytes
  }
  const std::string page = summary::report_html(folder.path);
  CHECK(count_of(page, "<audio controls") == 3);
  CHECK(count_of(page, "src=\"data:audio/wav;base64,UklGR") == 3);
  CHECK(count_of(page, "<figcaption>tone, step 3<") == 2);
  CHECK(!has(page, "step 1"));
  CHECK(!has(page, "left out"));
  const std::string bounded = summary::report_html(folder.path, {.max_sound_bytes = 1700});
  CHECK(count_of(bounded, "<audio controls") == 2);
  CHECK(has(bounded, "word, step 3: a sound of 3244 bytes is left out; a page has at most 1700 bytes of sounds"));
  CHECK(count_of(summary::report_html(folder.path, {.max_sound_bytes = 0}), "is left out") == 3);
  CHECK(has(error_of<errors::InvalidArgumentError>([&] { summary::report_html(folder.path, {.max_sound_bytes = -1}); }),
            "max_sound_bytes must not be negative, but is -1"));
}

TEST_CASE("what a run that went on has done again counts") {
  const TemporaryFolder folder;
  const auto write = [&](std::optional<i64> restart, i64 first, double value) {
    summary::FileWriter writer(folder.path, {.restart_step = restart});
    for (i64 step = first; step < first + 3; ++step) writer.scalar("loss", value, step);
    if (!restart) writer.histogram("weights", ones({4}), {.step = 2});
  };
  write({}, 0, 1e6);  // steps 0 to 2
  write(0, 0, 0.5);
  const std::string page = bytes_of_file(summary::write_report(folder.path));
  CHECK(!has(page, "1000000"));
  CHECK(!has(page, "1e+06"));
  CHECK(count_of(page, "<figure") == 1);  // the histogram is gone, too
}

// An event with one value of TensorFlow 1; `content` appends the fields of the message in this field of it.
template <class F>
std::string event_of(const char* tag, std::uint32_t field, const F& content) {
  using namespace summary::detail;
  std::string event;
  append_message(event, 5, [&] {
    append_message(event, 1, [&] {
      append_field(event, 1, tag);
      append_message(event, field, [&] { content(event); });
    });
  });
  return event;
}
std::string histogram_of(const char* tag, double low, double high, const std::vector<double>& limits,
                         const std::vector<double>& counts) {
  using namespace summary::detail;
  const auto bytes_of = [](const std::vector<double>& x) {
    return std::string(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double));
  };
  return event_of(tag, 5, [&](std::string& to) {
    append_fixed(to, 1, low), append_fixed(to, 2, high);
    append_field(to, 6, bytes_of(limits)), append_field(to, 7, bytes_of(counts));
  });
}

TEST_CASE("what other programs have written is drawn, or a text says why not") {
  const TemporaryFolder folder;
  const double nan = std::nan(""), most = std::numeric_limits<double>::max();
  io::TFRecordWriter file(folder / "events.out.tfevents.1");
  file.write(histogram_of("torch", 0.5, 2, {0.25, 1, 3}, {0, 4, 4}));  // the first bucket is empty
  file.write(histogram_of("below", 1, 9, {-2, 5, 5}, {0, 4, 4}));
  file.write(histogram_of("none", most, -most, {most}, {0}));
  file.write(histogram_of("broken", 0, 1, {0.5, 1}, {nan, 1}));
  file.write(event_of("gif", 4, [](std::string& to) { summary::detail::append_field(to, 4, "GIF89a"); }));
  file.write(event_of("ogg", 6, [](std::string& to) { summary::detail::append_field(to, 4, "OggS"); }));
  file.close();
  const auto values = testing::values_of(folder.path);
  REQUIRE(values.size() == 6);
  using Buckets = std::vector<summary::HistogramBucket>;
  CHECK(std::get<summary::Histogram>(values[0].value.content).buckets ==
        Buckets{{0.25, 0.25, 0}, {0.25, 1, 4}, {1, 2, 4}});
  CHECK(std::get<summary::Histogram>(values[1].value.content).buckets == Buckets{{-2, -2, 0}, {-2, 5, 4}, {5, 9, 4}});
  CHECK(std::get<summary::Histogram>(values[2].value.content).buckets == Buckets{{most, most, 0}});
  const std::string page = bytes_of_file(summary::write_report(folder.path));
  CHECK(count_of(page, "<figure") == 3);
  CHECK(has(page, "broken, step 0 cannot be shown: plot::histogram: a count is nan"));
  CHECK(has(page, "gif, step 0 cannot be shown: plot::Report::picture: the image is not a PNG file"));
  CHECK(has(page, "ogg, step 0 cannot be shown: plot::Report::sound: the sound is not a WAV file"));
}

TEST_CASE("hyper-parameters of several runs are a table, with the last values of their scalars") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const summary::HParams& h, double loss) {
    summary::FileWriter run(folder / name), validation(folder / name + "/validation");
    run.hparams(h);
    run.scalar("loss", 9, 0), run.scalar("loss", loss, 1), validation.scalar("loss", 2 * loss, 1);
    run.hparams_end(loss > 0.2 ? summary::Status::success : summary::Status::failure);
  };
  write("a", {{"lr", 0.1}, {"optimizer", "<adam>"}}, 0.25);
  write("a/b", {{"lr", 0.01}, {"nesterov", true}}, 0.125);  // a run within a run is none of its folders
  std::string page = bytes_of_file(summary::write_report(folder.path));
  CHECK(has(page, ">Hyper-parameters<"));
  std::string cells = page.substr(page.find("<table", page.rfind(">Hyper-parameters<")));
  cells.resize(cells.find("</table>"));
  std::string texts;  // of the cells, each with a '|' behind it, in lines
  bool in_tag = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == '<') in_tag = true;
    if (const std::string end = cells.substr(i, 5); end == "</td>" || end == "</th>") texts += '|';
    if (!in_tag) texts += cells[i];
    if (cells[i] == '>') in_tag = false;
  }
  CHECK(has(texts, "run|lr|nesterov|optimizer|loss|validation/loss|status|"));
  CHECK(has(texts, "a|0.1||&lt;adam&gt;|0.25|0.5|success|"));
  CHECK(has(texts, "a/b|0.01|true||0.125|0.25|failure|"));

  // The metrics of the experiment are the columns, if it has some.
  summary::FileWriter(folder.path).hparams_config({{"lr"}}, {{"loss", "held out", "validation"}});
  page = bytes_of_file(summary::write_report(folder.path));
  CHECK(has(page, ">held out<"));
  CHECK(!has(page, ">validation/loss<"));
}

TEST_CASE("the graph of a traced function is drawn") {
  const TemporaryFolder folder;
  const Variable w(ones({3, 2}));
  const auto f = function([&](const Tensor& x) { return nn::relu(matmul(x, w)); }, {.name = "f"});
  const auto traced = f.get_concrete_function(ones({4, 3}));
  summary::FileWriter(folder.path).graph(*traced);
  const std::vector<summary::Event> events = summary::read_events(folder.path);
  std::vector<summary::GraphOp> ops;
  REQUIRE(summary::parse_graph(events.back().graph, ops));
  const GraphDef def = as_graph_def(traced->graph());
  REQUIRE(ops.size() == def.nodes.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    CHECK(ops[i].name == def.nodes[i].name);
    CHECK(ops[i].op == def.nodes[i].op);
    CHECK(ops[i].inputs.size() == def.nodes[i].inputs.size());
  }
  const std::string page = bytes_of_file(summary::write_report(folder.path));
  CHECK(has(page, ">Graph<"));
  CHECK(has(page, ">matmul<"));
  CHECK(has(page, ">[4,2]<"));
  CHECK(has(page, std::to_string(ops.size()) + " ops."));
  CHECK(!summary::parse_graph("\x0a\x05x", ops));
  CHECK(!summary::parse_graph("\x0a\x02\x0a\x05", ops));
}

TEST_CASE("curves of a folder named validation are dashed; folders that cannot be read are passed over") {
  const TemporaryFolder folder;
  summary::FileWriter(folder / "cross-validation").scalar("loss", 1, 0);
  io::ensure_directory(folder / "closed");
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::none);
  std::filesystem::create_symlink(folder / "nowhere", folder / "tfevents.link");
  CHECK(!has(bytes_of_file(summary::write_report(folder.path)), "stroke-dasharray"));
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_all);
  summary::FileWriter(folder / "a/validation").scalar("loss", 1, 0);
  CHECK(has(bytes_of_file(summary::write_report(folder.path)), "stroke-dasharray"));
}

TEST_CASE("a folder without event files and a smoothing of 1 raise") {
  const TemporaryFolder folder;
  CHECK(has(error_of([&] { summary::write_report(folder.path); }), "there are no event files in " + folder.path));
  CHECK(has(error_of([&] { summary::write_report(folder / "none"); }), "there are no event files"));
  CHECK(has(error_of([&] { summary::write_report(folder.file("x", "")); }), "is a file: give the folder"));
  summary::FileWriter(folder.path).text("x", "no curve", {.step = 0});
  CHECK(has(error_of([&] { summary::write_report(folder.path, {}, {.smoothing = 1}); }), "not in [0, 1)"));
}

}  // namespace report_test
