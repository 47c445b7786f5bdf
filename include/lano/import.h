// A dataset from arrays in .npy, .npz, .mat, .h5 and .pt files, as `lano import` makes it. Component data, target
// lano::data.
#pragma once

#include "data/array_import.h"
