// Calls that no public function makes, as a graph file may hold them: sampled calls whose inputs have other dtypes,
// ranks, sizes or contents, or whose attributes are others. They are refused, raise, or compute from their operands
// alone. For tests generated from the op table and for the graph fuzzer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tandem/graph/exec/concrete.hpp"
#include "tests/support/op_samples.hpp"

namespace hostile {

/// A change of a call.
struct Edit {
  enum Kind : std::uint8_t {
    dtype,          // of input `at`
    dtypes_alike,   // of all inputs that have the dtype of input `at`
    size,           // of axis `element` of input `at`
    sizes_alike,    // of all axes of all inputs that are as long as that one
    all_sizes,      // of all axes of all inputs
    insert_axis,    // at `element` of input `at`, of this size
    remove_axis,    // `element` of input `at`
    contents,       // all elements of input `at`
    number,         // the number in attribute `at`
    list_element,   // `element` of the list in attribute `at`
    list_elements,  // all of them
    list_length,    // how many there are
    kinds
  } kind;
  std::size_t at = 0;
  std::size_t element = 0;
  tandem::i64 value = 0;
};
/// Changes the call, where the edit has anything to change; returns whether it had.
bool apply_edit(samples::Call& call, const Edit& edit);
/// Every single edit of the call that gives dtypes, sizes and numbers at the ends of what their fields hold.
std::vector<Edit> edits_of(const samples::Call& call);

/// How a graph has the inputs of its call.
struct Places {
  bool open = false;            // arguments have unknown sizes
  bool host_constants = false;  // what the host reads is a constant of the graph
};
/// The saved graph of the call, and its arguments; empty if the op's shape rule refuses the call.
struct File {
  const tandem::OpDef* op;
  std::string bytes;
  std::vector<tandem::Tensor> arguments;
};
File file_of(const samples::Call& call, Places places);

/// Whether all values of the graph are small enough to compute many of them, with open sizes taken as small.
bool is_small(const tandem::Graph& g);
/// A file whose graph is loaded, to be run as a plan or op by op.
class Loaded {
 public:
  Loaded(const File& file, bool plan);
  /// Runs the graph on the arguments, or on copies of them that lie between bytes of a value. Returns the bits of the
  /// results, or the error.
  std::string run(std::optional<unsigned char> around = {}) const;

 private:
  const File& file_;
  tandem::Ref<tandem::ConcreteFunction> function_;  // null: the graph was refused, or is too large to be run
  std::string error_ = "not run";
};

/// Runs the call's CPU kernel with guard bytes around its results and its scratch; returns what it overwrote, "" if
/// nothing, or if the op refuses the call.
std::string overwritten_by(const samples::Call& call);

}  // namespace hostile
