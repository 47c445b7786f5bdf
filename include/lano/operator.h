// A trained operator in use: Operator::load(path), predict(coordinates, input), roll-outs, derivatives, and Prepared
// for single points. Component runtime, target lano::runtime.
#pragma once

#include "runtime/operator.h"
