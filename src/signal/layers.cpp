#include "tandem/signal/layers.inl"
#include "tandem/signal/mel.inl"
