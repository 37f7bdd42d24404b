// The type in which kernels count, at the border between two. The device's own limit is another one on the emulator.
#include "cuda/index_type.hpp"

#include "cuda/conv/window.hpp"
#include "tests/support/catch.hpp"

namespace index_type_test {

using namespace tandem;

std::size_t bytes_for(i64 total) {
  std::size_t bytes = 0;
  cuda::with_index(
      total, [&]<class I>() { bytes = sizeof(I); }, i64(1) << 31);
  return bytes;
}

TEST_CASE("CUDA index types: 32 bits below 2^31 elements") {
  CHECK(bytes_for(0) == 4);
  CHECK(bytes_for((i64(1) << 31) - 1) == 4);
  CHECK(bytes_for(i64(1) << 31) == 8);
  CHECK(bytes_for(i64(1) << 40) == 8);
  // A step of the largest grid may be added to the last number.
  const i64 last = (i64(1) << 31) - 2, step = static_cast<i64>(cuda::blocks_for(last)) * cuda::block_size;
  CHECK(static_cast<std::uint32_t>(last) + static_cast<std::uint32_t>(step) == static_cast<u64>(last + step));
}

TEST_CASE("CUDA index types: windows in 32 bits are those in 64, up to the border") {
  const i64 most = (i64(1) << 31) - 1;
  for (WindowAxis a :
       {WindowAxis{most / 8, most / 16, 3, 2, 5, 7}, WindowAxis{most / 2 - 50, 1, 3, most / 2 - 50, 10, 9},
        WindowAxis{9, 9, 2, 1, most / 4, most / 4}}) {
    CAPTURE(a.in, a.stride, a.dilation);
    CHECK(cuda::largest_number(a) <= most);
    const cuda::NarrowAxis narrow(a);
    for (const i64 t : {i64(0), a.out / 2, a.out - 1}) {
      for (i64 k = 0; k < a.window; ++k) {
        const i64 at = cuda::position_of(a, t, k);
        CHECK(cuda::position_of(narrow, static_cast<int>(t), static_cast<int>(k)) == at);
        if (at >= 0) CHECK(cuda::window_at(narrow, static_cast<int>(at), static_cast<int>(k)) == t);
      }
      CHECK(cuda::count_inside(narrow, static_cast<int>(t)) == cuda::count_inside(a, t));
    }
    const i64 last = a.in - 1;
    for (i64 k = 0; k < a.window; ++k)
      CHECK(cuda::window_at(narrow, static_cast<int>(last), static_cast<int>(k)) == cuda::window_at(a, last, k));
  }
}

}  // namespace index_type_test
