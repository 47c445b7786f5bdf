// Fields as files for ParaView: write_vtk(), write_vtk_series(). Component report, target lano::report.
#pragma once

#include "report/vtk.h"
