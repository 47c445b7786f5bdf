// The model file: what a .safetensors of `lano train` holds, read, changed and written. Component runtime, target
// lano::runtime.
#pragma once

#include "runtime/model_file.h"
