#include "tandem/plot/graph.inl"
#include "tandem/plot/layered.inl"
#include "tandem/plot/plot_model.inl"
