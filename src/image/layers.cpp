#include "tandem/image/layers.inl"
