#include "tandem/distribute/reduce_gradients.inl"
#include "tandem/distribute/strategy.inl"
