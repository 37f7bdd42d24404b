// Progress: a line that says how far a loop is.
#pragma once
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::train {

enum class ProgressMode : std::uint8_t {  ///< where and how progress is shown
  automatic,  ///< terminal if .output is not given, stderr is one and the variable CI is not set; otherwise lines
  terminal,   ///< one line that is rewritten, ten times a second at most
  lines,      ///< a line with the time of day every 30 seconds, and one at the end: for files
  none
};

struct ProgressOptions {
  ProgressMode mode = ProgressMode::automatic;
  /// Default: stderr. A stream does not tell whether it is a terminal: std::cout has lines, unless .mode is terminal.
  std::ostream* output = nullptr;
  int columns = 0;              ///< the width of the terminal; default: that of stderr, asked for at each line
  const char* unit = "step";    ///< what is counted: "word" for words/s
  double (*clock)() = nullptr;  ///< seconds since 1970; default: the system's clocks
};

/// What a line says besides: {{"loss", 0.25}, {"accuracy", 0.9}}.
using Figures = std::vector<std::pair<std::string, double>>;

/// Shows the share that is done, the rate, the time that is left, and the program's own figures:
///
///   [#########               ]  38 %  380/1000  52.1 steps/s  0:12 left  loss 0.2513
///
///   train::Progress progress(1000);
///   for (i64 step = 0; step < 1000; ++step) {
///     const Tensor loss = train_step();
///     progress.step(step + 1, [&] { return train::Figures{{"loss", loss.item<float>()}}; });
///   }
///
/// The function is called when a line is due: a loss that nobody sees is not read. The rate is that of the last
/// seconds; the time that is left goes by the slower one of this and the average. On a terminal that is too narrow for
/// all, the line has the first figure, the time that is left, the rate, a loop within and the other figures, in this
/// order, as far as there is room: a number is shown whole or not at all. It has colors unless NO_COLOR is set. The
/// destructor ends it, so that the text of an exception has a line of its own. For one thread.
class TANDEM_API Progress {
 public:
  /// steps: 0 if their number is unknown
  explicit Progress(i64 steps, const ProgressOptions& options = {});
  /// A loop within a step, such as an evaluation, which the line of `outer` shows while this object lives.
  Progress(Progress& outer, std::string name, i64 steps);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `done` steps are done.
  template <class F>
    requires requires(const F& f) { Figures(f()); }
  void step(i64 done, const F& figures) {
    if (is_due(done)) show(done, figures());
  }
  void step(i64 done, const Figures& figures = {}) {
    if (is_due(done)) show(done, figures);
  }
  /// Writes a line of text above the progress line.
  void print(const std::string& text);
  /// The same with the rate since the last such line, or since the first step, and figures: "step 200  52.1 steps/s
  /// loss 0.2513"; with the time of day where there are lines. After step().
  void log(const std::string& text, const Figures& figures);
  /// Ends the line, which first shows the last step.
  void end();

 private:
  bool is_due(i64 done);
  void show(i64 done, Figures figures);
  void measure(double now);
  void draw(double now);
  void put(const std::string& text) const;
  double now() const;
  double wall_time(double now) const;
  std::string line(std::size_t columns) const;
  std::string bar(std::size_t columns) const;

  Progress* const outer_ = nullptr;
  const std::string name_;
  const i64 steps_;
  const ProgressOptions options_;
  bool colored_ = false;
  Figures figures_;
  std::string nested_;  // the text of a loop within
  i64 begun_ = -1, done_ = 0, shown_ = -1, measured_ = 0, logged_ = -1;
  double logged_at_ = 0, begin_ = 0, last_ = 0, measured_at_ = 0, rate_ = 0;  // seconds; steps a second
  std::size_t columns_ = 0;                                                   // of the line on the terminal
};

}  // namespace TANDEM_NS::train
