// Progress: what a line says, when there is one, that it never wraps.
#include "tandem/train/progress.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "tests/support/catch.hpp"

namespace train_progress_test {
using namespace tandem;
using train::Figures;
using train::Progress;
using train::ProgressMode;

double seconds = 0;
double test_clock() { return seconds; }

// A variable of the environment, set for a scope; "": not set.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old;
    set(value);
  }
  Environment(const Environment&) = delete;
  ~Environment() { set(old_); }

 private:
  void set(const std::string& value) const { value.empty() ? ::unsetenv(name_) : ::setenv(name_, value.c_str(), 1); }
  const char* const name_;
  std::string old_;
};
// What a terminal shows of the output: its rows, and the longest line that was ever on it.
struct Screen {
  std::vector<std::string> rows{""};
  std::size_t widest = 0, column = 0;
  explicit Screen(const std::string& output) {
    for (const char c : output) {
      if (c == '\n') rows.emplace_back(), column = 0;
      else if (c == '\r') column = 0;
      else if ((c & 0xc0) != 0x80) put(c);
      if ((c & 0xc0) == 0xc0) put(' ');  // a character beyond ASCII takes two columns at most
    }
    for (std::string& row : rows) row.erase(row.find_last_not_of(' ') + 1);
  }
  void put(char c) {
    std::string& row = rows.back();
    if (row.size() <= column) row.resize(column + 1, ' ');
    row[column++] = c;
    widest = std::max(widest, column);
  }
};
struct Lines {
  std::ostringstream out;
  const Environment no_color{"NO_COLOR", "1"};
  train::ProgressOptions options(ProgressMode mode, int columns = 80) {
    seconds = 1.7e9;
    return {.mode = mode, .output = &out, .columns = columns, .clock = &test_clock};
  }
  Screen screen() const { return Screen(out.str()); }
};

TEST_CASE("a terminal has one line, rewritten ten times a second at most") {
  Lines lines;
  int asked = 0;
  {
    Progress progress(1000, lines.options(ProgressMode::terminal, 100));
    for (i64 step = 1; step <= 500; ++step, seconds += 0x1p-5)
      progress.step(step, [&] { return ++asked, Figures{{"loss", 1.0 / static_cast<double>(step)}}; });
    CHECK(lines.screen().rows.size() == 1);
    CHECK(lines.screen().rows[0] == "[###########             ]  49 %  497/1000  32 steps/s  0:16 left  loss 0.002012");
  }
  CHECK(asked == 125);
  // The destructor shows the last step and ends the line.
  CHECK(lines.screen().rows ==
        std::vector<std::string>{"[############            ]  50 %  500/1000  31.9 steps/s  0:16 left  loss 0.002012",
                                 ""});
}

TEST_CASE("the line never wraps") {
  for (const int columns : {1, 2, 5, 10, 20, 30, 40, 60, 80, 200}) {
    Lines lines;
    {
      Progress progress(100'000, lines.options(ProgressMode::terminal, columns));
      for (i64 step = 1; step < 100'000; step *= 3, seconds += 1)
        progress.step(step, {{"a long name of a figure", 1e-7}, {"caf\xc3\xa9\xe4\xb8\xad\xff\n\x1b[2J", 3}});
    }
    CHECK(lines.screen().widest < static_cast<std::size_t>(std::max(columns, 2)));
    CHECK(lines.screen().rows.size() <= 2);
    CHECK(lines.out.str().find('\x1b') == std::string::npos);
  }
}

TEST_CASE("on a narrow terminal numbers are whole, and the loss comes before the rate") {
  const auto row = [](int columns) {
    Lines lines;
    Progress progress(1000, lines.options(ProgressMode::terminal, columns));
    for (i64 step = 1; step <= 500; ++step, seconds += 0x1p-5)
      progress.step(step, {{"loss", 123456.789}, {"accuracy", 0.5}});
    const std::string last = lines.screen().rows[0];
    return last.substr(0, last.find_last_not_of(' ') + 1);
  };
  CHECK(row(80) == "[###     ]  49 %  497/1000  32 steps/s  0:16 left  loss 1.235e+05  accuracy 0.5");
  CHECK(row(70) == " 49 %  497/1000  32 steps/s  0:16 left  loss 1.235e+05  accuracy 0.5");
  CHECK(row(68) == "[####      ]  49 %  497/1000  32 steps/s  0:16 left  loss 1.235e+05");
  CHECK(row(55) == " 49 %  497/1000  32 steps/s  0:16 left  loss 1.235e+05");
  CHECK(row(54) == "[###     ]  49 %  497/1000  0:16 left  loss 1.235e+05");
  CHECK(row(43) == " 49 %  497/1000  0:16 left  loss 1.235e+05");
  CHECK(row(40) == "[##   ]  49 %  497/1000  loss 1.235e+05");
  CHECK(row(30) == " 49 %  497/1000  0:16 left");
  CHECK(row(16) == " 49 %  497/1000");
}

TEST_CASE("what is counted has a name") {
  for (const auto& [seconds_each, rate] : {std::pair(0.5, "2 words/s"), std::pair(4., "4 s/word")}) {
    Lines lines;
    train::ProgressOptions options = lines.options(ProgressMode::terminal);
    options.unit = "word";
    Progress progress(1000, options);
    for (i64 word = 0; word < 5; ++word) progress.step(word), seconds += seconds_each;
    CHECK(lines.screen().rows[0].find(rate) != std::string::npos);
  }
}

TEST_CASE("the time that is left goes by the slower of the present rate and the average") {
  const auto left = [](double early, double late) {
    Lines lines;
    Progress progress(1000, lines.options(ProgressMode::terminal));
    for (i64 step = 0; step <= 500; ++step) progress.step(step), seconds += step < 250 ? early : late;
    const std::string row = lines.screen().rows[0];
    const std::size_t end = row.find(" left");
    return row.substr(row.rfind(' ', end - 1) + 1, end - row.rfind(' ', end - 1) - 1);
  };
  CHECK(left(1, 1) == "8:20");
  CHECK(left(1, 3) == "25:00");  // slower now
  CHECK(left(3, 1) == "16:40");  // faster now: the average of 2 s a step
}

TEST_CASE("rates are steps a second, or seconds a step") {
  const auto rate = [](double seconds_of_a_step) {
    Lines lines;
    Progress progress(0, lines.options(ProgressMode::terminal));
    const i64 step = seconds_of_a_step < 1 ? 1 << 20 : 1;
    progress.step(0);
    seconds += seconds_of_a_step * static_cast<double>(step);
    progress.step(step);
    const std::string row = lines.screen().rows[0];
    return row.substr(row.find("  ") + 2);
  };
  CHECK(rate(0x1p-16) == "65536 steps/s");
  CHECK(rate(0x1p-5) == "32 steps/s");
  CHECK(rate(0x1p-3) == "8 steps/s");
  CHECK(rate(1.25) == "1.25 s/step");
  CHECK(rate(1024) == "1024 s/step");
}

TEST_CASE("an evaluation is shown within the line of the training") {
  Lines lines;
  Progress progress(10, lines.options(ProgressMode::terminal, 120));
  progress.step(1, {{"loss", 0.5}});
  seconds += 1;
  progress.step(2, {{"loss", 0.25}});
  {
    Progress evaluation(progress, "evaluate", 4);
    for (i64 step = 1; step <= 4; ++step) evaluation.step(step, {{"accuracy", 0.75}}), seconds += 1;
    CHECK(
        lines.screen().rows[0] ==
        "[####                    ]  20 %  2/10  1 steps/s  0:08 left  loss 0.25  | evaluate 4/4  1 steps/s  accuracy "
        "0.75");
  }
  progress.step(3, {{"loss", 0.125}});
  CHECK(lines.screen().rows ==
        std::vector<std::string>{"[#######                 ]  30 %  3/10  1.33 s/step  0:18 left  loss 0.125"});
}

TEST_CASE("text is printed above the line; an exception has a line of its own") {
  Lines lines;
  try {
    Progress progress(4, lines.options(ProgressMode::terminal));
    progress.step(1, {{"loss", 1}});
    progress.print("saved ckpt-1");
    progress.step(2, {{"loss", 2}});
    throw std::runtime_error("diverged");
  } catch (const std::runtime_error& e) {
    lines.out << e.what();
  }
  CHECK(lines.screen().rows ==
        std::vector<std::string>{"saved ckpt-1", "[############            ]  50 %  2/4  loss 2", "diverged"});
}

TEST_CASE("a log has the rate since the last one, above the line or with the time of day") {
  const Environment zone("TZ", "UTC");
  ::tzset();
  const auto rows = [](ProgressMode mode) {
    Lines lines;
    {
      Progress progress(4, lines.options(mode));
      for (i64 step = 1; step <= 4; ++step, seconds += step) {
        progress.step(step);
        if (step % 2 == 0) progress.log("step " + std::to_string(10 + step), {{"loss", 0.25}});
      }
    }
    return lines.screen().rows;
  };
  const std::vector<std::string> shown = rows(ProgressMode::terminal);
  CHECK(shown[0] == "step 12  2 s/step  loss 0.25");
  CHECK(shown[1] == "step 14  3.5 s/step  loss 0.25");
  const std::vector<std::string> lines = rows(ProgressMode::lines);
  CHECK(lines[0] == "2023-11-14 22:13:22  step 12  2 s/step  loss 0.25");
  CHECK(rows(ProgressMode::none) == std::vector<std::string>{""});
}

TEST_CASE("elsewhere there is a line with the time of day every 30 seconds, and one at the end") {
  Lines lines;
  const Environment zone("TZ", "UTC");
  ::tzset();
  {
    Progress progress(100, lines.options(ProgressMode::lines));
    for (i64 step = 1; step <= 100; ++step, seconds += 1) progress.step(step, {{"loss", 0.5}, {"a\nb", 1}});
  }
  CHECK(lines.screen().rows ==
        std::vector<std::string>{"2023-11-14 22:13:50   31 %  31/100  1 steps/s  1:09 left  loss 0.5  a?b 1",
                                 "2023-11-14 22:14:20   61 %  61/100  1 steps/s  0:39 left  loss 0.5  a?b 1",
                                 "2023-11-14 22:14:50   91 %  91/100  1 steps/s  0:09 left  loss 0.5  a?b 1",
                                 "2023-11-14 22:14:59  100 %  100/100  1 steps/s  loss 0.5  a?b 1", ""});
}

TEST_CASE("a clock that is set back does not stop the lines") {
  Lines lines;
  Progress progress(0, lines.options(ProgressMode::terminal));
  progress.step(1);
  seconds -= 3600;
  progress.step(2);
  seconds += 0.2;
  progress.step(3);
  CHECK(lines.screen().rows[0].substr(0, 1) == "3");
}

TEST_CASE("without a mode, lines go to what is not a terminal; none is silent; colors can be turned off") {
  Lines lines;
  {
    train::ProgressOptions options = lines.options(ProgressMode::automatic);
    Progress progress(2, options);
    progress.step(1), progress.step(2);
  }
  CHECK(lines.screen().rows.size() == 2);
  CHECK(lines.out.str().find('\r') == std::string::npos);
  Lines silent;
  {
    Progress progress(2, silent.options(ProgressMode::none));
    int asked = 0;
    progress.step(2, [&] { return ++asked, Figures(); });
    Progress nested(progress, "inner", 1);
    nested.step(1), progress.print("text"), progress.end();
    CHECK(asked == 0);
  }
  CHECK(silent.out.str().empty());
  const Environment color("NO_COLOR", ""), terminal("TERM", "xterm");
  Lines plain;
  const auto colored = [&](const char* name, const char* value) {
    const Environment off(name, value);
    std::ostringstream out;
    Progress(2, {.mode = ProgressMode::terminal, .output = &out, .columns = 80, .clock = &test_clock}).step(1);
    return out.str().find("\x1b[32m") != std::string::npos;
  };
  CHECK_FALSE(colored("NO_COLOR", "1"));
  CHECK_FALSE(colored("TERM", "dumb"));
  const Environment again("NO_COLOR", "");
  CHECK(colored("TERM", "xterm"));
}

}  // namespace train_progress_test
