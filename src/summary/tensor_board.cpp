#include "tandem/summary/tensor_board.inl"
