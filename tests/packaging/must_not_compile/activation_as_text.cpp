// An activation is a function, not its name in Keras.
// error: deleted (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::layers::Dense dense(10, "relu");
#else
tandem::layers::Dense dense(10, tandem::nn::relu), other(10, {.activation = tandem::Activation::relu});
#endif
