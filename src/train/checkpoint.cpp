#include "tandem/train/checkpoint.inl"
#include "tandem/train/convert.inl"
#include "tandem/train/restore.inl"
