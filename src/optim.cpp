#include "tandem/optim/clip.inl"
#include "tandem/optim/optimizer.inl"
