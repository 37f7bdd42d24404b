#include "tandem/image/measure.inl"
#include "tandem/image/transform.inl"
