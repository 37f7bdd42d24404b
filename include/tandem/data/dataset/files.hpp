// Files: the records of one file after another, as a stage. Behind data/dataset_files.hpp. Part of the component
// tandem::data.
#pragma once
#include <algorithm>
#include <string_view>

#include "tandem/data/dataset/indexed.hpp"
#include "tandem/data/dataset/seek_points.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_API void check_paths(const char* op, const std::vector<std::string>& paths);

/// What readers of type R read from files, which are opened when their turn comes. `open(path)` makes a reader, with
/// bool next(T&), position() and seek().
template <class T, class R, class Open>
class Files final : public Stage<T> {
 public:
  Files(const char* name, std::vector<std::string> paths, Open open)
      : Stage<T>(name), points_(std::move(paths)), open_(std::move(open)) {
    check_paths(name, points_.paths());
  }
  i64 cardinality() const override { return unknown_cardinality; }
  SeekPoints* seek_points() const override { return &points_; }
  std::unique_ptr<Cursor<T>> open(const Run&, i64 first) const override {
    return skipped<T>(std::make_unique<Run_>(*this), first);
  }

 private:
  class Run_ final : public Cursor<T> {
   public:
    explicit Run_(const Files& stage) : stage_(stage) {}
    bool next(T& out) override {
      const Timing timing(stage_.counts());
      return read([&](R& reader) { return reader.next(out); });
    }
    i64 skip(i64 n) override {
      const auto pass = [&](R& reader) {
        std::string_view unused;
        if constexpr (requires { reader.next(unused); }) return reader.next(unused);  // does not copy the record
        else return reader.next(unused_);
      };
      const i64 from = number_;
      if (n > 2 * stage_.points_.spacing()) seek(from + n);
      while (number_ < from + n) try {
          if (!read(pass)) break;
        } catch (...) {  // a record that raises is passed over like others
        }
      return number_ - from;
    }

   private:
    // Goes to the last seek point before an element, if that is ahead.
    void seek(i64 element) {
      const std::optional<SeekPoints::Point> point = stage_.points_.before(element);
      if (!point || point->element <= number_) return;
      if (point->file != file_) reader_.reset();
      file_ = point->file, number_ = point->element;
      if (file_ == paths().size()) return;
      open();
      reader_->seek(point->position);
    }
    void open() {
      if (reader_) return;
      generation_ = stage_.points_.open(file_);
      reader_ = std::make_unique<R>(stage_.open_(paths()[file_]));
      is_sound_ = true;
    }
    template <class F>
    bool read(const F& f) {
      for (;; reader_.reset(), ++file_) {
        if (file_ == paths().size()) {
          stage_.points_.set_end(number_, generation_);
          return false;
        }
        try {
          open();
        } catch (...) {
          ++file_, ++number_;  // after the error, reading goes on with the next file
          throw;
        }
        if (number_ >= next_point_) [[unlikely]]
          note();
        is_sound_ = false;  // what a reader does after an error may depend on what lies before
        try {
          if (!f(*reader_)) continue;
        } catch (...) {
          ++number_;
          throw;
        }
        ++number_;
        return is_sound_ = true;
      }
    }
    // Adds a seek point for the next element if it is to have one.
    void note() {
      const i64 spacing = stage_.points_.spacing(), behind = number_ % spacing;
      if (behind == 0 && is_sound_) stage_.points_.add({number_, file_, reader_->position()}, generation_);
      next_point_ = number_ - behind + spacing;
    }
    const std::vector<std::string>& paths() const { return stage_.points_.paths(); }

    const Files& stage_;
    std::size_t file_ = 0;
    i64 number_ = 0, next_point_ = 0;  // of the next element, and of one with a seek point
    std::unique_ptr<R> reader_;
    u64 generation_ = 0;
    bool is_sound_ = true;  // the reader's last call has not raised
    T unused_;
  };

  mutable SeekPoints points_;
  Open open_;
};

/// The records of files that have them by number.
template <class F>
class IndexedFiles final : public Stage<std::string> {
 public:
  IndexedFiles(const char* name, std::vector<std::unique_ptr<F>> files) : Stage(name), files_(std::move(files)) {
    i64 n = 0;
    for (const auto& file : files_) ends_.push_back(n += file->size());
  }
  i64 cardinality() const override { return ends_.empty() ? 0 : ends_.back(); }
  bool indexed() const override { return true; }
  std::string at(const Key&, i64 index) const override {
    const Timing timing(counts());
    const auto file = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
    return files_[file]->at(index - (file == 0 ? 0 : ends_[file - 1]));
  }
  std::unique_ptr<Cursor<std::string>> open(const Run& run, i64 first) const override {
    return open_indexed<std::string>(*this, run, first);
  }

 private:
  std::vector<std::unique_ptr<F>> files_;
  std::vector<i64> ends_;  // the number of records up to the end of each file
};

}  // namespace TANDEM_NS::data::detail
