// Which node of a graph mixes the rows of a batch. For the definitions of serving.
#pragma once
#include <string>

#include "tandem/saved_model/load.hpp"

namespace TANDEM_NS::serving::impl {

/// The first node of a signature whose value for a row is another one when other rows are there, too, as text: "node
/// 'Mean' (reduce_mean) at model.cpp:12". A floating value without rows, such as a mean over all of them, counts if a
/// value is computed from it whose row differs. Empty if no value differs, if the nodes cannot be run one by one, and
/// for signatures that take tf.Examples.
///   rows   of all inputs: a few
///   row    which of them is tried alone
std::string mixing_node(const saved_model::Loaded& model, const std::string& signature,
                        const saved_model::NamedTensors& rows, i64 row);

}  // namespace TANDEM_NS::serving::impl
