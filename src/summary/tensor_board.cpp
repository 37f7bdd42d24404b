#include "tandem/summary/profile.inl"
#include "tandem/summary/tensor_board.inl"
