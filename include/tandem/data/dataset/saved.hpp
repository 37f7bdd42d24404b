// Elements in files: cache(path), save and load; the stage behind cache and snapshot. A file is a TFRecord file whose
// first record says what the elements are; it gets its name when it is complete. Behind data/dataset.hpp. Part of the
// component tandem::data. Not here: the folder of a snapshot (snapshot.hpp).
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/data/dataset/element_bytes.hpp"
#include "tandem/data/dataset/indexed.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/tfrecord.hpp"

namespace TANDEM_NS::data::detail {

/// Takes elements as bytes. publish() makes them what is read; without it they are removed.
class TANDEM_API ElementSink {
 public:
  virtual ~ElementSink() = default;
  virtual void write(std::string_view element) = 0;
  virtual void publish() = 0;
};

/// Writes a file of elements, which replaces the one at `path` when publish() is called.
class TANDEM_API ElementWriter final : public ElementSink {
 public:
  ElementWriter(const std::string& path, const std::string& type);
  TANDEM_INLINE void write(std::string_view element) override;
  TANDEM_INLINE void publish() override;

 private:
  io::detail::Replacement file_;
  io::TFRecordWriter writer_;
};

/// The elements of one file after those of another. Threads may read at the same time.
class TANDEM_API ElementFiles {
 public:
  /// Adds those of a file.
  ///   throws  errors::InvalidArgumentError in the name of `op` if they are of another type; what TFRecordFile raises
  ///           for a damaged file
  void add(const char* op, const std::string& path, const std::string& type);
  i64 size() const { return ends_.empty() ? 0 : ends_.back(); }
  std::string at(i64 index) const;

 private:
  std::vector<io::TFRecordFile> files_;
  std::vector<i64> ends_;  // the number of elements up to the end of each file
};
/// Opens a file of elements; null if there is none.
TANDEM_API std::shared_ptr<const ElementFiles> open_elements(const char* op, const std::string& path,
                                                             const std::string& type);

/// Where a stage keeps the elements that its input has given once.
class TANDEM_API ElementStore {
 public:
  virtual ~ElementStore() = default;
  /// Null if there are none yet.
  virtual std::shared_ptr<const ElementFiles> open() const = 0;
  /// Begins to write them; null where others do so.
  virtual std::unique_ptr<ElementSink> write() const = 0;
};
/// One file: cache(path).
TANDEM_API std::unique_ptr<ElementStore> file_store(std::string path, std::string type);

/// The elements of files.
template <class T>
class Saved final : public Stage<T> {
 public:
  Saved(const char* name, std::shared_ptr<const ElementFiles> files, const Workers& workers = {})
      : Stage<T>(name), files_(std::move(files)) {
    if (workers.threads > 0) this->set_workers(workers);
  }
  i64 cardinality() const override { return files_->size(); }
  bool indexed() const override { return true; }
  T at(const Key&, i64 index) const override {
    const Timing timing(this->counts());
    const std::string record = files_->at(index);
    ElementBytes bytes(this->name(), record);
    T r;
    read_element(bytes, r);
    bytes.check_end();
    return r;
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return open_indexed<T>(*this, run, first);
  }

 private:
  std::shared_ptr<const ElementFiles> files_;
};

/// Writes the elements of the first run that reaches the end to a store, which later runs, also of other processes,
/// read.
template <class T>
class Stored final : public Stage<T> {
 public:
  Stored(const char* name, StageRef<T> input, std::unique_ptr<ElementStore> store, const Workers& readers = {})
      : Stage<T>(name, {input}), input_(std::move(input)), store_(std::move(store)), readers_(readers) {
    if (input_->cardinality() == infinite_cardinality)
      errors::raise<errors::InvalidArgumentError>(name, "a data set without an end cannot be kept in files");
    saved();
  }
  i64 cardinality() const override {
    const auto found = saved();
    return found ? found->cardinality() : input_->cardinality();
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    if (const auto found = saved()) return open_at<T>(*found, run, first);
    return skipped<T>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  std::shared_ptr<const Saved<T>> saved() const {
    const std::lock_guard lock(mutex_);
    if (!saved_)
      if (auto found = store_->open())
        saved_ = std::make_shared<const Saved<T>>(this->name(), std::move(found), readers_);
    return saved_;
  }

  class Run_ final : public Cursor<T> {
   public:
    Run_(const Stored& stage, const Run& run)
        : stage_(stage), input_(stage.input_->open({{}, run.budget}, 0)), sink_(stage.store_->write()) {}
    bool next(T& out) override {
      auto sink = std::move(sink_);  // back below, where nothing has gone wrong: otherwise there are no files
      if (!input_->next(out)) {
        if (sink) sink->publish();
        return false;
      }
      if (!sink) return true;
      bytes_.clear();
      append_element(stage_.name(), out, bytes_);
      sink->write(bytes_);
      sink_ = std::move(sink);
      return true;
    }

   private:
    const Stored& stage_;
    std::unique_ptr<Cursor<T>> input_;
    std::unique_ptr<ElementSink> sink_;
    std::string bytes_;
  };

  StageRef<T> input_;
  std::unique_ptr<ElementStore> store_;
  Workers readers_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Saved<T>> saved_;
};

}  // namespace TANDEM_NS::data::detail
