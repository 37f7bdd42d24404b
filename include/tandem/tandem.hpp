// Tandem: the complete public interface except cuda.hpp, testing.hpp (namespace `test`) and the optional components
// (io.hpp, train.hpp), so that a program's own test(), train() and io() do not clash with these names. Header-only
// programs must include this or another umbrella header, that is, a header directly in tandem/: headers in
// subfolders only declare, the umbrella headers include the definitions as well.
#pragma once
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/products.hpp"
#include "tandem/autodiff/recompute.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/config.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/determinism.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/distribute/make_parallel.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/losses/crossentropy.hpp"
#include "tandem/losses/hinge.hpp"
#include "tandem/losses/regression.hpp"
#include "tandem/metrics/accuracy.hpp"
#include "tandem/metrics/confusion.hpp"
#include "tandem/metrics/curve.hpp"
#include "tandem/metrics/mean.hpp"
#include "tandem/metrics/mean_iou.hpp"
#include "tandem/metrics/of_losses.hpp"
#include "tandem/nn/beam_search.hpp"
#include "tandem/nn/layers.hpp"
#include "tandem/nn/model.hpp"
#include "tandem/nn/regularizers.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/average.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tandem/optim/plateau.hpp"
#include "tandem/optim/schedules.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/tandem.inl"
#endif
