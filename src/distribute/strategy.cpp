#include "tandem/distribute/strategy.inl"
#include "tandem/distribute/agreement.inl"
#include "tandem/distribute/reduce_gradients.inl"
#include "tandem/distribute/report.inl"
