// Fields as pictures: draw_field(), then encode_png(). Component report, target lano::report.
#pragma once

#include "report/picture.h"
#include "report/png_file.h"
