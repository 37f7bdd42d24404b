// Every op that the generated tests cover: the core's table and the ops of the optional components that are built.
#pragma once
#include <vector>

#include "tandem/op_table.hpp"
#if TANDEM_WITH_DISTRIBUTE
#include "tandem/distribute/collectives.hpp"
#endif
#if TANDEM_WITH_IMAGE
#include "tandem/image.hpp"
#endif
#if TANDEM_WITH_LINALG
#include "tandem/linalg.hpp"
#endif
#if TANDEM_WITH_SIGNAL
#include "tandem/signal.hpp"
#endif
#if TANDEM_WITH_STRINGS
#include "tandem/strings.hpp"
#endif

namespace samples {

inline std::vector<const tandem::OpDef*> tested_ops() {
  std::vector<const tandem::OpDef*> r(tandem::all_ops().begin(), tandem::all_ops().end());
  [[maybe_unused]] const auto add = [&](const auto& list) { r.insert(r.end(), std::begin(list), std::end(list)); };
#if TANDEM_WITH_LINALG
  add(tandem::linalg_solve_ops);
  add(tandem::linalg_qr_ops);
  add(tandem::linalg_eigen_ops);
  add(tandem::linalg_svd_ops);
  add(tandem::linalg_det_ops);
  add(tandem::linalg_expm_ops);
#endif
#if TANDEM_WITH_SIGNAL
  add(tandem::fft_ops);
  add(tandem::frame_ops);
#endif
#if TANDEM_WITH_STRINGS
  add(tandem::string_ops);
  add(tandem::regex_ops);
  add(tandem::string_number_ops);
  add(tandem::string_hash_ops);
  add(tandem::unicode_ops);
  add(tandem::lookup_ops);
  add(tandem::csv_ops);
  add(tandem::codec_ops);
#endif
#if TANDEM_WITH_IMAGE
  add(tandem::image_decode_ops);
  add(tandem::image_encode_ops);
  add(tandem::image_resize_ops);
#endif
#if TANDEM_WITH_DISTRIBUTE
  add(tandem::collective_ops);  // without those of buckets, which work in pairs (tests/distribute/strategy_test.cpp)
#endif
  return r;
}

}  // namespace samples
