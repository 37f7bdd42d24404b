// Elements in a file: cache(path), save and load. The file is a TFRecord file whose first record says what the elements
// are; it gets its name when it is complete. Behind data/dataset_files.hpp. Part of the component tandem::data.
#pragma once
#include <mutex>

#include "tandem/data/dataset/element_bytes.hpp"
#include "tandem/data/dataset/indexed.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/tfrecord.hpp"

namespace TANDEM_NS::data::detail {

/// Writes a file of elements, which replaces the one at `path` when publish() is called, and is removed otherwise.
class TANDEM_API ElementWriter {
 public:
  ElementWriter(const std::string& path, const std::string& type);
  void write(std::string_view element) { writer_.write(element); }
  void publish();

 private:
  io::detail::Replacement file_;
  io::TFRecordWriter writer_;
};

/// Opens a file of elements; null if there is none.
///   throws  errors::InvalidArgumentError in the name of `op` if its elements are of another type; what TFRecordFile
///           raises for a damaged file
TANDEM_API std::shared_ptr<io::TFRecordFile> open_elements(const char* op, const std::string& path,
                                                           const std::string& type);

template <class T>
T element_at(const char* op, const io::TFRecordFile& file, i64 index) {
  const std::string record = file.at(index + 1);  // the first record is the type
  ElementBytes bytes(op, record);
  T r;
  read_element(bytes, r);
  bytes.check_end();
  return r;
}

/// The elements of a file.
template <class T>
class Saved final : public Stage<T> {
 public:
  Saved(const char* name, std::shared_ptr<io::TFRecordFile> file) : Stage<T>(name), file_(std::move(file)) {}
  i64 cardinality() const override { return file_->size() - 1; }
  bool indexed() const override { return true; }
  T at(const Key&, i64 index) const override {
    const Timing timing(this->counts());
    return element_at<T>(this->name(), *file_, index);
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return open_indexed<T>(*this, run, first);
  }

 private:
  std::shared_ptr<io::TFRecordFile> file_;
};

/// Writes the elements of the first run that reaches the end to a file, which later runs, also of other processes,
/// read.
template <class T>
class FileCache final : public Stage<T> {
 public:
  FileCache(StageRef<T> input, std::string path)
      : Stage<T>("cache", {input}), input_(std::move(input)), path_(std::move(path)) {
    file();
  }
  i64 cardinality() const override {
    const auto saved = file();
    return saved ? saved->cardinality() : input_->cardinality();
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    if (const auto saved = file()) return saved->open(run, first);
    return skipped<T>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  std::shared_ptr<const Saved<T>> file() const {
    const std::lock_guard lock(mutex_);
    if (!saved_)
      if (auto found = open_elements("cache", path_, type_text<T>()))
        saved_ = std::make_shared<const Saved<T>>("cache", std::move(found));
    return saved_;
  }

  class Run_ final : public Cursor<T> {
   public:
    Run_(const FileCache& stage, const Run& run)
        : stage_(stage),
          input_(stage.input_->open({{}, run.budget}, 0)),
          writer_(std::make_unique<ElementWriter>(stage.path_, type_text<T>())) {}
    bool next(T& out) override {
      auto writer = std::move(writer_);  // back below, where nothing has gone wrong: otherwise there is no file
      if (!input_->next(out)) {
        if (writer) writer->publish();
        return false;
      }
      if (!writer) return true;
      bytes_.clear();
      append_element("cache", out, bytes_);
      writer->write(bytes_);
      writer_ = std::move(writer);
      return true;
    }

   private:
    const FileCache& stage_;
    std::unique_ptr<Cursor<T>> input_;
    std::unique_ptr<ElementWriter> writer_;
    std::string bytes_;
  };

  StageRef<T> input_;
  std::string path_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Saved<T>> saved_;
};

}  // namespace TANDEM_NS::data::detail
