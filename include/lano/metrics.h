// The errors that `lano eval` reports: relative L2 and H1, maximum error, their summary over samples. Component
// runtime, target lano::metrics.
#pragma once

#include "metrics/metrics.h"
