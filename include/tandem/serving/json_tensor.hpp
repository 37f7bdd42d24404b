// A tensor from nested lists of a JSON text. For the definitions of json_predict.hpp and json_infer.hpp. Part of the
// component tandem::serving.
#pragma once
#include <optional>
#include <string>

#include "tandem/core/tensor.hpp"
#include "tandem/serving/json_reader.hpp"

namespace TANDEM_NS::serving::impl {

/// Takes the events of one value, or of the values of several rows, and keeps their numbers in one buffer of their
/// dtype. A string may be {"b64": "..."}.
class JsonTensor {
 public:
  /// `shape`: what the value must have (`none`: any dimension); without it any shape will do.
  JsonTensor(std::string name, DType dtype, const std::optional<Shape>& shape);
  /// Begins a value: all of it (level 0), or the next row (level 1).
  void begin(int level);
  /// Takes an event; true if the value ends with it.
  ///   throws  errors::InvalidArgumentError, naming the tensor and the position: an element of another dtype or that
  ///   the
  ///           dtype cannot hold, lists of different lengths or of another rank or size than the shape
  bool on(const JsonEvent& e);
  const std::string& name() const { return name_; }
  bool is_begun() const { return is_begun_; }
  i64 rows() const { return counts_[0]; }
  /// All elements, with the shape that they had.
  Tensor finish();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_element(const std::string& what) const;
  [[noreturn]] void fail_number(std::string_view s) const;
  std::string position() const;
  std::string expected() const;
  void begin_list();
  void end_list();
  void begin_element();
  void end_element();
  void number(const JsonEvent& e);
  void text(std::string_view s);
  void add(Bytes s);
  bool encoded(const JsonEvent& e);
  void grow();
  template <class T>
  void numbers(const JsonEvent& e);
  template <class T>
  void number_as(std::string_view s);

  std::string name_;
  DType dtype_;
  std::optional<Shape> shape_;
  int begun_at_ = 0, level_ = 0;  // of lists around what comes next
  int rank_ = -1;                 // the level of the elements; -1: not known yet
  int deepest_ = 0;               // lists
  i64 counts_[max_rank] = {};     // in the lists that are open
  i64 dims_[max_rank];            // of the lists that were closed; none: no list yet
  bool is_begun_ = false;
  enum { no, opened, has_key, has_text } b64_ = no;  // how far {"b64": "..."} has been read
  Bytes decoded_;                                    // what it holds
  Tensor buffer_;
  void* data_ = nullptr;
  i64 size_ = 0, capacity_ = 0;
};

}  // namespace TANDEM_NS::serving::impl
