// Random ops: generators, draws, samples, candidates and their losses, dropout.
#define TANDEM_IMPLEMENT_RANDOM 1
#include "tandem/ops/random/candidates.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/ops/random/sampled_loss.hpp"
