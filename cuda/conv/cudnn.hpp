// Convolutions by cuDNN, where it is installed and has an engine for them. For host code; not here: the convolutions
// that are made of products (conv.cu).
#pragma once
#include "cuda/queue.hpp"
#include "tandem/attrs/conv.hpp"

namespace TANDEM_NS::cuda {

/// What is computed of y = conv(x, w): y; the gradient of x, of y's; the gradient of w, of x and y's.
enum class ConvPart { forward, input_gradient, filter_gradient };

struct ConvProblem {
  ConvPart part;
  DType dtype;
  i64 batch, groups, in, out;  // channels are counted per group
  WindowAxis axis[3];          // as WindowAxes
};
/// [batch, spatial..., channels], [spatial..., in, groups out], [batch, spatial..., channels], contiguous. The one that
/// is computed is written.
struct ConvOperands {
  void *x, *w, *y;
};

/// Launches the convolution and returns true; or returns false and has computed nothing: without cuDNN, for float64,
/// for gradients of filters and some of images in float32, unless TF32 is allowed (other kernels are more exact or
/// faster), and for what no engine computes with sums of float32 in a fixed order (of products of TF32, if that is
/// allowed).
///   throws  errors::CudaError in the op's name if cuDNN fails
bool conv_by_cudnn(const KernelCall& c, const ConvProblem& p, const ConvOperands& of);
/// For tests: whether cuDNN is there, and how many convolutions conv_by_cudnn has launched.
bool has_cudnn();
u64 cudnn_convolutions();

}  // namespace TANDEM_NS::cuda
