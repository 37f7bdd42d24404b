// GradientTape::Log: what a tape records, as entries in chunks. For the definitions of autodiff/tape.hpp.
#pragma once
#include "tandem/autodiff/slots.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

// One applied op. It is followed in its chunk by the saved tensors (inputs, then outputs), the inputs' slots and the
// attrs.
struct GradientTape::Entry {
  Entry* prev;
  const OpDef* op;
  std::int32_t first_out;
  std::uint32_t n_in, n_out : 31, has_attrs : 1;
  int line;  // of the user's call, with its file
  const char* file;

  static std::size_t slots_at(std::size_t n_in, std::size_t n_out) {
    return sizeof(Entry) + (n_in + n_out) * sizeof(Tensor);
  }
  static std::size_t attrs_at(std::size_t n_in, std::size_t n_out) {
    return (slots_at(n_in, n_out) + n_in * sizeof(int) + 15) & ~std::size_t(15);
  }
  Tensor* saved() { return reinterpret_cast<Tensor*>(this + 1); }
  Span<Tensor> all_saved() { return {saved(), std::size_t(n_in) + n_out}; }
  const int* in_slots() const {
    return reinterpret_cast<const int*>(reinterpret_cast<const char*>(this) + slots_at(n_in, n_out));
  }
  Attrs* own_attrs() {
    return has_attrs ? reinterpret_cast<Attrs*>(reinterpret_cast<char*>(this) + attrs_at(n_in, n_out)) : nullptr;
  }
  // Destroys what follows the entry, up to the saved tensor at `end`.
  void destroy(Tensor* end) {
    while (end != saved()) (--end)->~Tensor();
    if (Attrs* a = own_attrs()) a->~Attrs();
  }
  const Attrs& attrs() { return has_attrs ? *own_attrs() : no_attrs; }
};

// The state of a tape: what it records, and how. It outlives the tape if the observer list of the tape's thread
// cannot be reached from where the tape is destroyed.
struct GradientTape::Log final : Observer, Opaque {
  explicit Log(const TapeOptions& o) : options_(o) {}
  ~Log() override { free_entries(); }
  const char* kind() const override { return "tape"; }
  // NOLINTNEXTLINE(misc-new-delete-overloads): delete is the sized form
  static void* operator new(std::size_t bytes) { return memory::Blocks::allocate(bytes); }
  static void operator delete(void* p, std::size_t bytes) { memory::Blocks::release(p, bytes); }

  TANDEM_INLINE void record(const Applied&) override;
  TANDEM_INLINE void read(const Variable&, const Tensor&) override;
  void dropped() override { release(); }
  void leave();
  void clear();
  void watch(const Tensor& x);
  void watch(const Variable& v);
  static void check_watchable(const Spec& s);
  char* room_for(std::size_t bytes);
  void note(const Applied&);
  void release_saved(Entry&);
  void free_entries();
  std::vector<Gradient> differentiate(const Targets&, Span<const Source>, const GradientOptions&);
  std::string why_unset(const Source&, Span<const Tensor> targets) const;
  std::string why_apart(const Source&, Span<const Tensor> targets) const;
  std::string source_of(const Entry& op, Span<const Source> sources) const;
  Span<const int> slots_of(const Source&, int& single) const;
  bool watches(const Source& s) const {
    int single;
    return !slots_of(s, single).empty();
  }
  std::vector<TapeMemory> memory() const;
  std::string dump() const;

  struct Reads {
    Variable variable;
    InlinedVector<int, 1> slots;  // one for each read
  };
  Reads& reads_of(const Variable& v);
  Slots map_;
  // Leaves: slots of watched tensors and of reads of Variables.
  int slots_ = 0, leaves_ = 0;
  IdMap variables_;  // variable id -> index in reads_
  LeanVector<Reads> reads_;
  Entry* last_ = nullptr;
  LeanVector<detail::LedgerNote> notes_;  // indexed by entry, oldest first; empty without a ledger
  struct Chunk {
    char* data;
    int cls;
  };
  LeanVector<Chunk> chunks_;
  std::size_t used_ = 0, room_ = 0;
  const TapeOptions options_;
  bool spent_ = false;
};

}  // namespace TANDEM_NS
