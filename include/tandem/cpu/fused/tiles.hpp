// Tiles of a fused program: how a call is divided, and one thread's share of it. For the kernels of fused programs.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/fused/fused.hpp"
#include "tandem/cpu/pointwise/broadcast.hpp"
#include "tandem/cpu/pointwise/expand.hpp"
#include "tandem/cpu/streaming.hpp"
#include "tandem/util/inlined_vector.hpp"

namespace TANDEM_NS::cpu {

namespace detail {
inline constexpr i64 fused_tile = 1024, least_fused_tile = 256;  // elements
inline constexpr i64 long_fused_tile = 16384;                    // if there are no intermediate values
inline constexpr i64 fused_cache = 24 * 1024;                    // maximum bytes of the tiles of intermediate values
inline constexpr double fused_grain = 10000;                     // minimum ns per thread
inline constexpr double fused_ns_per_byte = 0.03;  // of inputs and outputs, which are seldom in the L1 cache
}  // namespace detail

/// The plan of one call, shared by all threads.
struct FusedCall {
  enum Layout : std::uint8_t { direct, one, spread };  // like the output; one element; repeated along some axes

  const FusedCode& code;
  const KernelCall& c;
  const i64 n = c.out[0].size();
  i64 tile = detail::fused_tile, width = 1, buffer_bytes, element_bytes = 0;
  int buffers = 0;  // tiles stored in scratch
  bool streamed = false;
  InlinedVector<Layout, 16, memory::Blocks> layout;
  InlinedVector<BroadcastAxes, 1, memory::Blocks> axes;  // of spread inputs
  InlinedVector<bool, 8, memory::Blocks> copied;         // outputs in the buffer of an input read later

  FusedCall(const FusedCode& f, const KernelCall& call) : code(f), c(call) {
    for (const DType d : code.dtypes_) width = std::max(width, static_cast<i64>(size_of(d)));
    buffers = static_cast<int>(code.dtypes_.size()) - code.inputs_ - code.outputs_;
    i64 period = 1;
    for (int i = 0; i < code.inputs_; ++i) lay_out_input(i, period);
    for (int o = 0; o < code.outputs_; ++o) lay_out_output(o);
    if (n > tile) choose_tile(period);
    buffer_bytes = (std::min(tile, n) * width + 127) / 64 * 64;  // expand writes up to one register too much
    streamed = n * element_bytes >= streaming_bytes;
  }
  const Operand& in(int i) const { return c.in[static_cast<std::size_t>(i)]; }
  const Operand& out(int o) const { return c.out[static_cast<std::size_t>(o)]; }
  i64 width_of(int slot) const { return static_cast<i64>(size_of(code.dtypes_[static_cast<std::size_t>(slot)])); }
  i64 tiles() const { return (n + tile - 1) / tile; }
  /// The number of tiles worth handing to another thread, from the cost of computing and moving them.
  i64 grain() const {
    const double ns = code.cost_ + detail::fused_ns_per_byte * static_cast<double>(element_bytes);
    return static_cast<i64>(detail::fused_grain / (static_cast<double>(tile) * ns));
  }

 private:
  void lay_out_input(int i, i64& period) {
    const i64 size = in(i).size();
    layout.push_back(size == n ? direct : size == 1 ? one : spread);
    if (size == n) {
      element_bytes += width_of(i);
    } else if (size != 1) {
      const Shape* shape[] = {&in(i).shape()};
      const BroadcastAxes& a = axes.push_back(broadcast_axes(shape, c.out[0].shape()));
      if (a.is_same_for_rows(0)) period = std::max(period, a.inner());
      ++buffers;
    } else {
      buffers += code.written_out_[static_cast<std::size_t>(i)];
    }
  }
  void lay_out_output(int o) {
    bool conflict = false;
    for (int i = 0; i < code.inputs_; ++i)
      conflict =
          conflict || (in(i).data == out(o).data && layout[static_cast<std::size_t>(i)] == direct &&
                       code.last_read_[static_cast<std::size_t>(i)] > code.written_[static_cast<std::size_t>(o)]);
    copied.push_back(conflict);
    buffers += conflict;
    element_bytes += width_of(code.inputs_ + o);
  }
  // With tiles of whole rows, a repeated row is valid for all tiles.
  void choose_tile(i64 period) {
    if (buffers == 0 && code.steps_.size() == 1) tile = detail::long_fused_tile;
    while (tile > detail::least_fused_tile && buffers * tile * width > detail::fused_cache) tile /= 2;
    if (period > 1 && period <= tile) tile = tile / period * period;
  }
};

/// One thread's share of a call.
class FusedTiles {
 public:
  explicit FusedTiles(const FusedCall& call)
      : call_(call),
        code_(call.code),
        slots_(code_.dtypes_.size()),
        bytes_(call.buffers * call.buffer_bytes + static_cast<i64>(slots_ * (sizeof(void*) + 1)) + 64),
        scratch_(bytes_ > static_cast<i64>(sizeof inside_) ? static_cast<std::size_t>(bytes_) : 0) {
    char* at = scratch_.data() ? static_cast<char*>(scratch_.data()) : inside_;
    slot_ = reinterpret_cast<void**>(at + call.buffers * call.buffer_bytes);
    repeats_ = reinterpret_cast<std::uint8_t*>(slot_ + slots_);
    std::memset(repeats_, 0, slots_);
    buffer_ = at;
    for (auto s = static_cast<std::size_t>(code_.inputs_ + code_.outputs_); s < slots_; ++s) slot_[s] = next_buffer();
    for (int i = 0, k = 0; i < code_.inputs_; ++i) {
      const auto layout = call.layout[static_cast<std::size_t>(i)];
      if (layout == FusedCall::one) place_one(i);
      if (layout == FusedCall::spread)
        spread_.push_back(Spread{i, &call.axes[static_cast<std::size_t>(k++)], next_buffer()});
    }
    for (int o = 0; o < code_.outputs_; ++o)
      copies_.push_back(call.copied[static_cast<std::size_t>(o)] ? next_buffer() : nullptr);
  }

  void run(i64 begin, i64 end) {
    for (; begin < end; ++begin) run_tile(begin * call_.tile, std::min(call_.tile, call_.n - begin * call_.tile));
    if (call_.streamed) end_streaming();
  }
  /// Writes the elements [begin, begin + n) of the only output to `to`.
  void run_into(void* to, i64 begin, i64 n) {
    for (i64 done = 0; done < n; done += call_.tile) {
      into_ = static_cast<char*>(to) + done * call_.width_of(code_.inputs_);
      run_tile(begin + done, std::min(call_.tile, n - done));
    }
  }

 private:
  struct Spread {
    int input;
    const BroadcastAxes* axes;
    char* buffer;
    i64 filled = 0;  // elements valid for every tile that begins where a row does
  };

  char* next_buffer() { return std::exchange(buffer_, buffer_ + call_.buffer_bytes); }
  void place_one(int i) {
    const auto s = static_cast<std::size_t>(i);
    slot_[s] = call_.in(i).data;
    repeats_[s] = 1;
    if (!code_.written_out_[s]) return;
    slot_[s] = next_buffer();
    expand(call_.width_of(i), static_cast<char*>(slot_[s]), static_cast<const char*>(call_.in(i).data), 1, 0,
           std::min(call_.tile, call_.n), true);
  }

  void run_tile(i64 at, i64 n) {
    for (std::size_t i = 0; i < call_.layout.size(); ++i)
      if (call_.layout[i] == FusedCall::direct)
        slot_[i] = place(call_.in(static_cast<int>(i)), static_cast<int>(i), at);
    for (Spread& s : spread_) spread(s, at, n);
    bool streamed = call_.streamed;
    for (int o = 0; o < code_.outputs_; ++o) {
      void*& to = slot_[code_.inputs_ + o];
      to = into_ ? into_ : place(call_.out(o), code_.inputs_ + o, at);
      streamed = streamed && begins_line(to);
      if (char* copy = copies_[static_cast<std::size_t>(o)]) to = copy;
    }
    for (const FusedStep& s : code_.steps_) run_step(s, n, streamed);
    for (int o = 0; o < code_.outputs_; ++o)
      if (const char* copy = copies_[static_cast<std::size_t>(o)])
        std::memcpy(place(call_.out(o), code_.inputs_ + o, at), copy,
                    static_cast<std::size_t>(n * call_.width_of(code_.inputs_ + o)));
  }
  char* place(const Operand& x, int slot, i64 at) const { return x.as<char>() + at * call_.width_of(slot); }
  void run_step(const FusedStep& s, i64 n, bool streamed) {
    if (s.chain) {
      const Micro* m = code_.micros_.data() + s.first;
      return s.chain(m, m + s.count, slot_, repeats_, n, streamed);
    }
    const void* const in[] = {slot_[s.in[0]], slot_[s.in[1]], slot_[s.in[2]]};
    s.loop.run(in, slot_[s.out], n, s.loop.params, streamed && s.last_use);
  }

  // The elements [at, at + n) of an expanded repeated input: in place if they are contiguous in a row, otherwise
  // written out.
  void spread(Spread& s, i64 at, i64 n) {
    const BroadcastAxes& a = *s.axes;
    const i64 inner = a.inner(), width = call_.width_of(s.input);
    i64 column = at % inner, done = 0;
    if (column == 0 && n <= s.filled) return void(slot_[s.input] = s.buffer);
    const char* const from = call_.in(s.input).as<char>();
    const bool repeat = a.repeats_inner(0), regular = a.rank <= 2;
    BroadcastRows rows(a, at / inner);
    if (!repeat && column + n <= inner) {
      slot_[s.input] = const_cast<char*>(from) + (rows.offset(0) + column) * width;
      return;
    }
    while (done < n) {
      const i64 part = std::min(inner - column, n - done);
      const i64 count = regular && column == 0 ? std::max<i64>(1, (n - done) / inner) : 1;
      expand(width, s.buffer + done * width, from + (rows.offset(0) + (repeat ? 0 : column)) * width, count,
             regular && a.rank == 2 ? a.stride[0][0] : 0, part, repeat);
      done += count * part;
      if (column + part == inner) rows.advance(count);
      column = 0;
    }
    slot_[s.input] = s.buffer;
    s.filled = a.is_same_for_rows(0) && at % inner == 0 ? n : 0;
  }

  const FusedCall& call_;
  const FusedCode& code_;
  const std::size_t slots_;
  const i64 bytes_;
  const memory::Scratch scratch_;
  void** slot_;
  std::uint8_t* repeats_;
  char *buffer_, *into_ = nullptr;
  InlinedVector<Spread, 2, memory::Blocks> spread_;
  InlinedVector<char*, 8, memory::Blocks> copies_;
  alignas(64) char inside_[4096];  // for short calls, instead of scratch
};

}  // namespace TANDEM_NS::cpu
