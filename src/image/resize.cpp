#include "tandem/image/resize.inl"
#include "tandem/image/spans.inl"
