// A model judged on a dataset as `lano eval` does it: load_model(), then judge(). Component train, target lano::train.
#pragma once

#include "evaluate/evaluation.h"
#include "evaluate/loaded_model.h"
