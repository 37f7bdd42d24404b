// The data set MNIST of handwritten digits, and others that come in its four files. Part of the component tandem::data.
#pragma once
#include <string>

#include "tandem/data/synthetic.hpp"

namespace TANDEM_NS::data {

/// What load_mnist returns.
struct Mnist {
  Digits train;  ///< 60,000 in MNIST
  Digits test;   ///< 10,000
};
/// Loads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte from a
/// folder, each plain or compressed (.gz). Fashion-MNIST and KMNIST have the same files.
///   throws   errors::NotFoundError if the folder or a file is missing; errors::InvalidArgumentError, naming the file,
///   if
///            images are not uint8 [n, 28, 28] with n > 0, or labels not uint8 [n] of 0 to 9; otherwise as load_idx
TANDEM_API Mnist load_mnist(const std::string& folder);

}  // namespace TANDEM_NS::data
