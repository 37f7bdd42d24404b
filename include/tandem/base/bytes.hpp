// Bytes: an element of a string tensor, one intrusive pointer to immutable bytes (null = empty). Any byte value may
// occur.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS {

class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string_view s) {
    if (s.empty()) return;
    block_ = ::new (::operator new(sizeof(Block) + s.size())) Block{{1}, s.size()};
    std::memcpy(static_cast<void*>(block_ + 1), s.data(), s.size());
  }
  Bytes(const Bytes& o) : block_(o.block_) {
    if (block_) block_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Bytes(Bytes&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
  Bytes& operator=(Bytes o) noexcept {
    std::swap(block_, o.block_);
    return *this;
  }
  ~Bytes() {
    if (block_ && block_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(block_);
  }
  std::string_view view() const {
    return block_ ? std::string_view(reinterpret_cast<const char*>(block_ + 1), block_->size) : std::string_view();
  }
  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

 private:
  struct Block {
    std::atomic<std::uint64_t> refs;
    std::uint64_t size;
  };
  Block* block_ = nullptr;
};
static_assert(sizeof(Bytes) == sizeof(void*));

}  // namespace TANDEM_NS
