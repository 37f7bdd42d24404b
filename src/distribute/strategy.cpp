#include "tandem/distribute/strategy.inl"
#include "tandem/distribute/reduce_gradients.inl"
