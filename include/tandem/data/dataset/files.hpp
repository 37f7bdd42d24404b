// Files: the records of one file after another, as a stage. Behind data/dataset_files.hpp. Part of the component
// tandem::data.
#pragma once
#include <algorithm>
#include <string_view>

#include "tandem/data/dataset/indexed.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_API void check_paths(const char* op, const std::vector<std::string>& paths);

/// What readers of type R read from files, which are opened when their turn comes. `open(path)` makes a reader, with
/// bool next(T&).
template <class T, class R, class Open>
class Files final : public Stage<T> {
 public:
  Files(const char* name, std::vector<std::string> paths, Open open)
      : Stage<T>(name), paths_(std::move(paths)), open_(std::move(open)) {
    check_paths(name, paths_);
  }
  i64 cardinality() const override { return unknown_cardinality; }
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
      for (i64 i = 0; i < n; ++i) try {
          if (!read(pass)) return i;
        } catch (...) {  // a record that raises is passed over like others
        }
      return n;
    }

   private:
    template <class F>
    bool read(const F& f) {
      for (;; reader_.reset(), ++file_) {
        if (file_ == stage_.paths_.size()) return false;
        if (!reader_) {
          try {
            reader_ = std::make_unique<R>(stage_.open_(stage_.paths_[file_]));
          } catch (...) {
            ++file_;  // after the error, reading goes on with the next file
            throw;
          }
        }
        if (f(*reader_)) return true;
      }
    }
    const Files& stage_;
    std::size_t file_ = 0;
    std::unique_ptr<R> reader_;
    T unused_;
  };

  std::vector<std::string> paths_;
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
