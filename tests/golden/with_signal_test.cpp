// Fourier transforms against PyTorch and SciPy.
#include "tandem/ops/all.hpp"
#include "tandem/signal.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

TEST_CASE("golden values: Fourier transforms") {
  using namespace tandem::signal;
  check("with_signal",
        {GOLDEN_SUM("fft", fft(x[0])), GOLDEN_SUM("ifft", ifft(x[0])), GOLDEN_SUM("rfft", rfft(x[0])),
         GOLDEN_SUM("irfft", irfft(x[0], {.fft_length = c.p[0]})), GOLDEN_SUM("dct", dct(x[0], {.type = c.integer(0)})),
         GOLDEN_SUM("fft2d", fft2d(x[0])), GOLDEN_SUM("ifft2d", ifft2d(x[0])), GOLDEN_SUM("rfft2d", rfft2d(x[0])),
         GOLDEN_SUM("stft", stft(x[0], c.p[0], c.p[1]))});
}

}  // namespace golden_test
