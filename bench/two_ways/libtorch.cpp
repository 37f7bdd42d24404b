// Two or three ways to one result in LibTorch: those of tandem.cpp for which it has one call.
#include "../support/libtorch.hpp"

namespace {
using at::Tensor;
using bench::torch_normal;

Tensor sum_of(const std::vector<Tensor>& parts) {
  Tensor sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  return sum;
}
Tensor sum_of_slices(const Tensor& x) {
  Tensor sum = x[0];
  for (std::int64_t i = 1; i < 500; ++i) sum = sum + x[i];
  return sum;
}

// Tandem's images [n, h, w, c] and filters [h, w, c, o], in the memory order that LibTorch calls channels last.
Tensor image() { return torch_normal({8, 28, 28, 64}, 1).permute({0, 3, 1, 2}); }
Tensor filter(at::IntArrayRef shape, std::uint32_t seed, float scale) {
  return torch_normal(shape, seed, scale).permute({3, 2, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast);
}
Tensor back(const Tensor& y) { return y.permute({0, 2, 3, 1}); }

template <class F>
void add(const std::string& name, F make) {
  bench::add("two_ways/" + name, [=] { return bench::repeat_no_grad(make()); });
}

bool add_all() {
  add("rows_by_slices", [] { return [x = torch_normal({500, 10}, 1)] { return sum_of_slices(x); }; });
  add("rows_by_unstack", [] { return [x = torch_normal({500, 10}, 1)] { return sum_of(x.unbind()); }; });
  add("rows_reduced", [] { return [x = torch_normal({500, 10}, 1)] { return x.sum(0); }; });

  add("conv_full", [] {
    return [x = image(), w = filter({3, 3, 64, 64}, 2, 0.05f)] {
      return back(at::conv2d(x, w, {}, at::IntArrayRef{1}, at::IntArrayRef{1}));
    };
  });
  add("conv_separable", [] {
    // Tandem's depthwise filter is [h, w, c, 1], LibTorch's [c, 1, h, w].
    const Tensor depthwise = torch_normal({3, 3, 64, 1}, 3, 0.3f).permute({2, 3, 0, 1}).contiguous();
    return [x = image(), d = depthwise, p = filter({1, 1, 64, 64}, 4, 0.1f)] {
      const Tensor y = at::conv2d(x, d, {}, at::IntArrayRef{1}, at::IntArrayRef{1}, at::IntArrayRef{1}, 64);
      return back(at::conv2d(y, p));
    };
  });
  add("halved_by_pool", [] { return [x = image()] { return back(at::max_pool2d(x, 2, 2)); }; });
  add("halved_by_conv", [] {
    return
        [x = image(), w = filter({2, 2, 64, 64}, 5, 0.05f)] { return back(at::conv2d(x, w, {}, at::IntArrayRef{2})); };
  });
  add("merge", [] {
    return [a = torch_normal({200, 1, 32}, 6), b = torch_normal({1, 200, 48}, 7), wa = torch_normal({32, 64}, 8, 0.1f),
            wb = torch_normal({48, 64}, 9, 0.1f)] { return at::matmul(a, wa) + at::matmul(b, wb); };
  });
  add("merge_by_tile", [] {
    return [a = torch_normal({200, 1, 32}, 6), b = torch_normal({1, 200, 48}, 7), wa = torch_normal({32, 64}, 8, 0.1f),
            wb = torch_normal({48, 64}, 9, 0.1f)] {
      return at::matmul(at::cat({a.repeat({1, 200, 1}), b.repeat({200, 1, 1})}, 2), at::cat({wa, wb}, 0));
    };
  });
  add("cross_entropy_sparse", [] {
    return [y = torch_normal({1000, 10000}, 15), t = bench::torch_indices({1000}, 10000, 16)] {
      return at::cross_entropy_loss(y, t, {}, at::Reduction::None);
    };
  });
  add("cross_entropy_dense", [] {
    const Tensor labels = at::one_hot(bench::torch_indices({1000}, 10000, 16), 10000).to(torch::kFloat32);
    return [y = torch_normal({1000, 10000}, 15), labels] {
      return at::cross_entropy_loss(y, labels, {}, at::Reduction::None);
    };
  });
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
