// Decompositions and solvers of linear algebra: cholesky, qr, svd, eigh, solve, inv, det, .... The component
// tandem::linalg; header-only programs need Eigen 3.4 for it.
// Not here: products, norms and diagonals (tandem.hpp), the table of the component's ops (linalg_op_table.hpp).
#pragma once
#include "tandem/linalg/det.hpp"
#include "tandem/linalg/eigen.hpp"
#include "tandem/linalg/expm.hpp"
#include "tandem/linalg/lstsq.hpp"
#include "tandem/linalg/qr.hpp"
#include "tandem/linalg/solve.hpp"
#include "tandem/linalg/svd.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/einsum.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/linalg/norm.hpp"
#include "tandem/ops/linalg/products.hpp"
#include "tandem/ops/shape/transpose.hpp"

#if TANDEM_IS_HEADER_ONLY
#include "tandem/linalg/common.inl"
#include "tandem/linalg/det.inl"
#include "tandem/linalg/eigen.inl"
#include "tandem/linalg/expm.inl"
#include "tandem/linalg/kernels_eigen.inl"
#include "tandem/linalg/kernels_expm.inl"
#include "tandem/linalg/kernels_factor.inl"
#include "tandem/linalg/kernels_qr.inl"
#include "tandem/linalg/kernels_svd.inl"
#include "tandem/linalg/kernels_svd_complex.inl"
#include "tandem/linalg/kernels_svd_real.inl"
#include "tandem/linalg/lstsq.inl"
#include "tandem/linalg/qr.inl"
#include "tandem/linalg/solve.inl"
#include "tandem/linalg/svd.inl"
#include "tandem/tandem.hpp"
#endif
