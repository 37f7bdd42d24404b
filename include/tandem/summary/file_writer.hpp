// FileWriter: writes event files, which TensorBoard shows. Part of the component tandem::summary. Not here: functions
// that write to a scope's writer (summary.hpp), reading (reader.hpp).
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/base/scalar.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/summary/hparams.hpp"
#include "tandem/summary/options.hpp"
#include "tandem/summary/recorder.hpp"

namespace TANDEM_NS::summary {

struct FileWriterOptions {
  double flush_seconds = 2;              ///< what was written is in the file after so many seconds
  i64 max_queue_bytes = 10 << 20;        ///< with more than this waiting for the disk, a call waits
  std::string filename_suffix = "";      ///< the end of the file's name
  bool simple_values = false;            ///< scalars and histograms in the fields of TensorFlow 1, for old readers
  std::optional<i64> restart_step = {};  ///< TensorBoard drops what earlier files of the folder have from this step on
  Ref<ConcreteFunction> graph = {};      ///< is written first
};

class DefaultWriter;

/// Writes an event file. A thread of the writer does so; the calling thread only appends to a queue. Copies are handles
/// of one writer; the file is closed with the last of them. Threads may use a writer at the same time.
///
///   summary::FileWriter writer("logs/run1");
///   writer.scalar("loss", loss, step);
///   writer.close();
///
/// The file is flushed every `flush_seconds`, by flush(), at the end of an as_default scope, at exit(), and when an
/// exception that nobody catches, std::terminate() or std::abort() ends the program: the first writer handles SIGABRT,
/// until the last one is destroyed, unless the program does. What ends a program in another way, SIGKILL or a
/// segmentation fault, costs what was written since the last flush. After a crash at most the last record is
/// incomplete, which readers take as the end. If the disk is full the first failed write is a warning; the queue keeps
/// what it has room for until the file can be written again, and close() raises if something is missing.
///
/// All methods with a value raise errors::TraceError while a function is traced, where they would run once and not at
/// each call: return the value from the function and write it outside; errors::InvalidArgumentError without a step, for
/// a tag that is empty, not UTF-8, or has values of another kind, and for a description that is not UTF-8;
/// errors::FailedPreconditionError once the writer is closed, and in a child that fork() has made.
class TANDEM_API FileWriter {
 public:
  /// Creates logdir if it does not exist, and in it a file of a new name: events.out.tfevents.SECONDS.HOST.PID.NUMBER.
  ///   throws  errors::UnavailableError or ResourceExhaustedError if that fails, and no file is left;
  ///           errors::InvalidArgumentError for options out of range
  explicit FileWriter(const std::string& logdir, FileWriterOptions options = {});

  /// Writes a number, which TensorFlow stores as float32.
  ///   value   a C++ number, or a tensor of any numeric dtype with one element
  ///   throws  errors::InvalidArgumentError for a tensor of another size or of strings
  void scalar(std::string_view tag, Scalar value, SummaryOptions = {});
  void scalar(std::string_view tag, const Tensor& value, SummaryOptions = {});
  void scalar(std::string_view tag, Scalar value, i64 step) { scalar(tag, value, SummaryOptions{.step = step}); }
  void scalar(std::string_view tag, const Tensor& value, i64 step) { scalar(tag, value, SummaryOptions{.step = step}); }

  /// Writes how values are distributed: buckets of one width from the smallest to the largest, as tf.summary does. If
  /// all are equal, the last bucket has them. Infinities and NaN are not counted.
  ///   values  real numbers, any shape
  ///   throws  errors::InvalidArgumentError for another dtype, or another number of buckets
  void histogram(std::string_view tag, const Tensor& values, HistogramOptions = {});

  /// Writes images as PNG.
  ///   images  [n, height, width, 1, 3 or 4]: uint8, or floating in [0, 1], clamped
  ///   throws  errors::InvalidArgumentError for another dtype or shape, sizes of 0, or a negative max_outputs
  void image(std::string_view tag, const Tensor& images, ImageOptions = {});

  /// Writes a text, which TensorBoard shows as Markdown; a tensor of texts, [n] or [rows, columns], as a table.
  ///   throws  errors::InvalidArgumentError for another dtype or a text that is not UTF-8
  void text(std::string_view tag, std::string_view text, SummaryOptions = {});
  void text(std::string_view tag, const Tensor& texts, SummaryOptions = {});

  /// Writes sound as WAV files of 16 bits.
  ///   waves        [n, frames, channels], floating in [-1, 1], clamped
  ///   sample_rate  frames per second
  ///   throws       errors::InvalidArgumentError for another dtype or rank, more than 65535 channels, a rate below 1,
  ///                or 4 GB and more
  void audio(std::string_view tag, const Tensor& waves, i64 sample_rate, AudioOptions = {});

  /// Writes precision and recall at thresholds from 0 to 1: a prediction counts as positive from the threshold on.
  ///   labels       bool, or numbers 0 and 1
  ///   predictions  in [0, 1], shape of labels
  ///   throws       errors::InvalidArgumentError for another shape, dtype or value, or num_thresholds out of range
  void pr_curve(std::string_view tag, const Tensor& labels, const Tensor& predictions, PrCurveOptions = {});

  /// Writes a graph for the page "Graphs": its ops, grouped by their name scopes, with dtypes and shapes; the bodies of
  /// control flow as scopes. A writer has one graph: TensorBoard shows the last.
  ///
  ///   writer.graph(*f.get_concrete_function(x));
  void graph(const ConcreteFunction& function);
  void graph(const Graph& graph);

  /// Writes the hyperparameters of the run in this folder, which become a row of the page "HParams".
  ///   throws  errors::InvalidArgumentError for a name or text that is not UTF-8
  void hparams(const HParams& hparams, HParamsOptions = {});
  /// Writes which hyperparameters and metrics an experiment has: into the folder of all its runs, or one of them.
  void hparams_config(const std::vector<HParam>& hparams, const std::vector<HParamMetric>& metrics);
  /// Writes that the run has ended.
  void hparams_end(Status status);

  /// Writes the rows of a matrix for the page "Projector": the files NAME.tsv, NAME.metadata.tsv and
  /// projector_config.pbtxt in logdir. Another call with the name replaces them.
  ///   embeddings  real numbers, [n, size]
  ///   throws      errors::InvalidArgumentError for another dtype or rank, an empty name, another number of labels than
  ///               rows, or of values in a row of metadata than columns; otherwise as io::write_file
  void embedding(std::string_view name, const Tensor& embeddings, const EmbeddingOptions& = {});

  /// Makes this the writer of the summary functions on this thread, until the end of the returned object's scope, which
  /// also flushes it. With a step, that is what set_step would set, until then.
  ///
  ///   const auto scope = writer.as_default();
  ///   summary::scalar("loss", loss, {.step = step});
  [[nodiscard]] DefaultWriter as_default(std::optional<i64> step = {}) const;

  /// Returns once the system has all that was written: it then outlives the program.
  void flush() const { recorder_->flush(); }
  /// Flushes and closes the file. No effect on a closed one.
  ///   throws  errors::ResourceExhaustedError for a full disk, errors::UnavailableError for other system errors, also
  ///           if they have passed and cost events
  void close() const { recorder_->close(); }
  /// The event file.
  const std::string& path() const { return recorder_->path(); }
  WriterStats stats() const { return recorder_->stats(); }

 private:
  friend class DefaultWriter;
  friend class TensorBoard;
  FileWriter(const std::string& logdir, const FileWriterOptions& options, detail::Warned warned);
  std::shared_ptr<detail::Recorder> recorder_;
};
/// TensorFlow's name for the constructor.
inline FileWriter create_file_writer(const std::string& logdir, FileWriterOptions options = {}) {
  return FileWriter(logdir, std::move(options));
}

/// The scope of FileWriter::as_default.
class TANDEM_API DefaultWriter {
 public:
  DefaultWriter(const DefaultWriter&) = delete;
  DefaultWriter& operator=(const DefaultWriter&) = delete;
  ~DefaultWriter();

 private:
  friend class FileWriter;
  DefaultWriter(const FileWriter& writer, std::optional<i64> step);

  FileWriter writer_;
  FileWriter* outer_;
  std::optional<i64> outer_step_;
  bool sets_step_;
};

namespace detail {
/// The writer of the summary functions on this thread, or null; their step.
TANDEM_API FileWriter*& default_writer();
TANDEM_API std::optional<i64>& default_step();
/// The checks of all methods: no function is being traced, and there is a step, which it returns.
i64 checked_step(const char* op, const std::optional<i64>& step);
void check_not_traced(const char* op);
}  // namespace detail

}  // namespace TANDEM_NS::summary
