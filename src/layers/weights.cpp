#include "tandem/layers/activations.inl"
#include "tandem/layers/constraints.inl"
#include "tandem/layers/initializers.inl"
#include "tandem/layers/regularizers.inl"
