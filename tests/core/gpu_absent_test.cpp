// tandem/cuda.hpp in every mode: with a device, or with a reason why there is none. What a device does: tests/cuda.
#include "tandem/cuda.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("gpu: no device without a reason, no reason with a device") {
  CHECK(cuda::available() == (cuda::device_count() > 0));
  CHECK(cuda::available() == cuda::why_unavailable().empty());
}

TEST_CASE("gpu: without a device, what needs one says why") {
  if (cuda::available()) TANDEM_SKIP("there is a device");
  CHECK_THROWS_AS(constant(1.f).gpu(), errors::UnimplementedError);
  CHECK_THROWS_WITH(cuda::synchronize(), ContainsSubstring("no CUDA device: " + cuda::why_unavailable()));
  CHECK_THROWS_AS(cuda::memory_info(), errors::UnavailableError);
  CHECK_THROWS_AS(cuda::set_memory_limit(1 << 20), errors::UnavailableError);
  CHECK_THROWS_AS(cuda::reset_peak(), errors::UnavailableError);
  CHECK_THROWS_AS(cuda::trim(), errors::UnavailableError);
  CHECK(cuda::hidden_synchronizations() == 0);
}

TEST_CASE("gpu: launches do not wait unless asked to") {
  CHECK(!cuda::launch_blocking());
  cuda::set_launch_blocking(true);
  CHECK(cuda::launch_blocking());
  cuda::set_launch_blocking(false);
}

TEST_CASE("gpu: float32 products keep their digits unless asked otherwise") {
  CHECK(!cuda::tf32_allowed());
  cuda::allow_tf32(true);
  CHECK(cuda::tf32_allowed());
  cuda::allow_tf32(false);
}
