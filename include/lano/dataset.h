// Datasets: DatasetReader and DatasetWriter for files, MemoryDataset for arrays in memory, Samples for the numbers
// between them. Component data, target lano::data.
#pragma once

#include "data/dataset.h"
