// The edge of both programs: exceptions become one sentence on stderr and an exit code, 1 for failed work, 2 for wrong
// usage.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace lano::cli {

// Parses and runs; returns the exit code.
int run_at_edge(CLI::App& app, int argc, char** argv);

// Fails where `path` exists and `force` is not set: nothing is lost by a typing error.
void refuse_to_overwrite(const std::string& path, bool force);

// Joins the other processes of a job where this is one of several; returns the exit code where that fails. rank, local:
// what the launcher says of this process, among all and among those of this machine.
int start_ranks(const std::function<void()>& join, int rank, int local);

// Common start of a program: a full disk or file-size limit is reported by write errors, not by a signal.
void prepare_process();

}  // namespace lano::cli
