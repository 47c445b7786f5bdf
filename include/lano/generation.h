// A dataset from a function that makes sample i, on all cores and resumable. Component data, target lano::data.
#pragma once

#include "data/generation.h"
