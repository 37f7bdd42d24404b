#include "tandem/serving/examples_proto.inl"
#include "tandem/serving/predict_proto.inl"
#include "tandem/serving/tensor_proto.inl"
