#include "tandem/train/checkpoint.inl"
