#include "tandem/image/boxes.inl"
#include "tandem/image/mix.inl"
