// Packed forms: the copies of a Variable's value in the order in which kernels read it (panels of a product's right
// operand, of a filter). A kernel that packs the same value a third time leaves the result here, where later calls find
// it until the Variable changes. Not here: which values have packed forms (Variable), the layouts (cpu/gemm, cpu/conv).
#pragma once
#include <atomic>
#include <cstddef>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS {

/// The kernels that keep packed forms: the first number of a key.
enum class PackedLayout : std::uint8_t { product, filter };

/// What a packed form depends on besides the value: its PackedLayout, the instruction set, and the sizes that this
/// layout follows. Numbers that a kernel does not use are 0.
struct PackedKey {
  i64 numbers[15] = {};
  friend bool operator==(const PackedKey&, const PackedKey&) = default;
};

/// The packed forms of one value, as a field of its header. Several threads may look up and add forms at once; a form
/// stays where it is until clear(), which needs the value for itself.
class TANDEM_API PackedForms {
 public:
  PackedForms() = default;
  PackedForms(const PackedForms&) = delete;
  PackedForms& operator=(const PackedForms&) = delete;

  /// Returns the form of that key, `bytes` large. The third request makes it, by pack(void*): to write and to read it
  /// once costs as much as packing in scratch about twice, which is what a weight that changes after one or two uses
  /// should not pay. Returns null until then, for more keys than one value keeps, for a form of more than twice the
  /// value's bytes (padding), and where memory is short: under memory::set_limit, forms use none beyond half the limit.
  template <class F>
  void* get(const PackedKey& key, std::size_t value_bytes, std::size_t bytes, const F& pack) {
    if (bytes > 2 * value_bytes) return nullptr;
    Form* const form = find(key, bytes);
    if (!form) return nullptr;
    if (void* ready = form->data.load(std::memory_order_acquire)) return ready;
    if (form->requests.fetch_add(1, std::memory_order_relaxed) + 1 < requests_to_keep) return nullptr;
    void* const made = allocate(bytes);
    if (!made) return nullptr;
    try {
      pack(made);
    } catch (...) {
      release(made, bytes);
      throw;
    }
    return publish(*form, made);
  }
  bool is_empty() const { return !first_.load(std::memory_order_relaxed); }
  /// Frees all forms; for the only owner of the value.
  void clear();

 private:
  struct Form {
    Form* next;
    PackedKey key;
    std::size_t bytes;
    std::atomic<int> requests{1};
    std::atomic<void*> data{nullptr};
  };
  static constexpr int requests_to_keep = 3;
  static constexpr int most = 4;  // a filter for images of several sizes, and the transposed one

  /// The entry of a key that was requested before. Otherwise adds one, if there is room, and returns null.
  Form* find(const PackedKey& key, std::size_t bytes);
  static void* allocate(std::size_t bytes);
  static void release(void* p, std::size_t bytes);
  static void* publish(Form& form, void* made);

  std::atomic<Form*> first_{nullptr};
};

}  // namespace TANDEM_NS
