// Definitions of summary/file_writer.hpp: the writer itself and its scope.
#pragma once
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/core/context.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/functions.hpp"

namespace TANDEM_NS::summary {

namespace impl {

TANDEM_INLINE void refuse_option(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("FileWriter", what);
}
TANDEM_INLINE std::shared_ptr<detail::Recorder> make_recorder(const std::string& logdir, const FileWriterOptions& o,
                                                              detail::Warned warned) {
  if (!(o.flush_seconds > 0 && o.flush_seconds <= 1e6)) refuse_option("flush_seconds must be above 0, up to 1e6");
  if (o.max_queue_bytes < 1) refuse_option("max_queue_bytes must be at least 1");
  if (o.restart_step && *o.restart_step < 0) refuse_option("restart_step must not be negative");
  if (o.filename_suffix.find('/') != std::string::npos) refuse_option("filename_suffix must not have a '/'");
  return {new detail::Recorder(logdir.empty() ? "." : logdir, o, std::move(warned)), [](detail::Recorder* r) {
            if (r->is_inherited()) r->abandon();
            delete r;
          }};
}

}  // namespace impl

TANDEM_INLINE FileWriter::FileWriter(const std::string& logdir, FileWriterOptions options)
    : FileWriter(logdir, options, detail::Warned()) {}
TANDEM_INLINE FileWriter::FileWriter(const std::string& logdir, const FileWriterOptions& options, detail::Warned warned)
    : recorder_(impl::make_recorder(logdir, options, std::move(warned))) {
  if (options.graph) graph(*options.graph);
}
TANDEM_INLINE DefaultWriter FileWriter::as_default(std::optional<i64> step) const { return {*this, step}; }

TANDEM_INLINE DefaultWriter::DefaultWriter(const FileWriter& writer, std::optional<i64> step)
    : writer_(writer),
      outer_(detail::default_writer()),
      outer_step_(detail::default_step()),
      sets_step_(step.has_value()) {
  detail::default_writer() = &writer_;
  if (sets_step_) detail::default_step() = step;
}
TANDEM_INLINE DefaultWriter::~DefaultWriter() {
  detail::default_writer() = outer_;
  if (sets_step_) detail::default_step() = outer_step_;
  writer_.flush();
}

namespace detail {

TANDEM_INLINE FileWriter*& default_writer() {
  static constinit thread_local FileWriter* writer = nullptr;
  return writer;
}
TANDEM_INLINE std::optional<i64>& default_step() {
  static constinit thread_local std::optional<i64> step;
  return step;
}
TANDEM_INLINE void check_not_traced(const char* op) {
  if (context.stager) [[unlikely]]
    errors::raise<errors::TraceError>(op,
                                      "is called while a function is traced, where it would write once and not at each "
                                      "call; return the value from the function and write it outside");
}
TANDEM_INLINE i64 checked_step(const char* op, const std::optional<i64>& step) {
  check_not_traced(op);
  if (step) return *step;
  if (default_step()) return *default_step();
  errors::raise<errors::InvalidArgumentError>(op,
                                              "there is no step; give it as {.step = n}, or with as_default(n) or "
                                              "summary::set_step(n)");
}

}  // namespace detail
namespace impl {
TANDEM_INLINE const RecordIf*& record_condition() {
  static constinit thread_local const RecordIf* condition = nullptr;
  return condition;
}
}  // namespace impl
TANDEM_INLINE RecordIf::RecordIf(train::AnyFunction<bool()> condition)
    : condition_(std::move(condition)), outer_(impl::record_condition()) {
  impl::record_condition() = this;
}
TANDEM_INLINE RecordIf::~RecordIf() { impl::record_condition() = outer_; }
TANDEM_INLINE bool should_record_summaries() {
  const RecordIf* const condition = impl::record_condition();
  return has_default_writer() && (!condition || condition->holds());
}

}  // namespace TANDEM_NS::summary
