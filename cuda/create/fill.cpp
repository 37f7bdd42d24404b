// The CUDA kernels of fill, full_like and size_of: values known on the host, or a value on the device.
#include <cstring>

#include "cuda/layout/copy.hpp"
#include "tandem/attrs/create.hpp"
#include "tandem/attrs/reduce.hpp"
#include "tandem/cpu/create/fill.hpp"

namespace TANDEM_NS::cuda {

void fill(const KernelCall& c) {
  cpu::StridedCopy n;
  n.add(c.out[0].size(), 1, 0);
  copy_strided(c, n, size_of(c.out[0].spec->dtype), c.out[0].data, c.in[1].data);
}
void full_like(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FullLikeAttrs>();
  const Operand& y = c.out[0];
  alignas(16) char element[16] = {};
  cpu::write_number(element, y.spec->dtype, a.real, a.whole);
  fill_elements(c, y.data, size_of(y.spec->dtype), element, y.size());
}
void size_of(const KernelCall& c) {
  const Shape& s = c.in[0].shape();
  const std::uint32_t mask = c.attrs.get<rules::SizeAttrs>().axis.mask(c.op, s.rank());
  i64 n = 1;
  for (int d = 0; d < s.rank(); ++d)
    if (mask >> d & 1u) n *= s[d];
  const DType dtype = c.out[0].spec->dtype;
  alignas(16) char element[16] = {};
  cpu::write_number(element, dtype, static_cast<double>(n), n);
  fill_elements(c, c.out[0].data, tandem::size_of(dtype), element, 1);
}

}  // namespace TANDEM_NS::cuda
