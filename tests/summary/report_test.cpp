// write_report: curves, the latest of other values, sections, restarts.
#include "tandem/summary/report.hpp"

#include "tandem/summary/file_writer.hpp"
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
  CHECK(has(page, "17"));
  CHECK(has(page, "stroke-dasharray"));  // held-out values
  CHECK(count_of(page, "<svg") == 3);    // loss, time/step, weights
  CHECK(count_of(page, "data:image/png;base64,") == 2);
  CHECK(has(page, "&lt;b&gt;bold"));
  CHECK(!has(page, "<b>bold"));
  CHECK(has(page, "weights of train, step 9"));
  CHECK(!has(page, "step 7"));
  CHECK(has(page, ">time<"));  // a section
  CHECK(!has(page, "<script"));
  CHECK(summary::write_report(folder.path) == folder / "report.html");
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
  CHECK(count_of(page, "<svg") == 1);  // the histogram is gone, too
}

TEST_CASE("a folder without event files and a smoothing of 1 raise") {
  const TemporaryFolder folder;
  CHECK(has(error_of([&] { summary::write_report(folder.path); }), "there are no event files in " + folder.path));
  CHECK(has(error_of([&] { summary::write_report(folder / "none"); }), "there are no event files"));
  summary::FileWriter(folder.path).scalar("x", 1, 0);
  CHECK(has(error_of([&] { summary::write_report(folder.path, {}, {.smoothing = 1}); }), "smoothing"));
}

}  // namespace report_test
