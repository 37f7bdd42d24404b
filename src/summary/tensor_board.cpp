#include "tandem/summary/tensor_board.inl"
#include "tandem/summary/profile.inl"
