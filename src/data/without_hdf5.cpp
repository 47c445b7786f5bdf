// Replaces the dataset file if HDF5 is left out (the Python wheel): opening or writing one fails with an error message.
#include <fmt/format.h>

#include "core/error.h"
#include "data/dataset.h"

namespace lano {

class Hdf5File {};

namespace {

[[noreturn]] void fail_without(const std::string& doing) {
  fail_plainly(doing, "this build of LANO has no HDF5",
               "install the second Python package, lano-solvers, or use the program lano");
}

std::filesystem::path refused(const std::filesystem::path& path) {
  fail_without(fmt::format("writing '{}'", path.string()));
}

}  // namespace

bool is_dataset_file(const std::filesystem::path&) { return false; }

DatasetReader::DatasetReader(const std::filesystem::path& path, InitialFrames) : path_(path) { fail_without(doing()); }

DatasetWriter::DatasetWriter(const std::filesystem::path& path, SetDescription, std::vector<Split>,
                             std::span<const float>)
    : pending_(refused(path)), shared_(false) {}
DatasetWriter::DatasetWriter(const std::filesystem::path& path, SetDescription, std::vector<Split>,
                             const std::vector<std::int64_t>&)
    : pending_(refused(path)), shared_(false) {}
DatasetWriter::~DatasetWriter() = default;
void DatasetWriter::write(std::int64_t, std::span<const float>, std::span<const float>, std::span<const float>,
                          std::span<const float>) {}
void DatasetWriter::make_cells(CellKind, std::int64_t) {}
void DatasetWriter::make_cells(CellKind, const std::vector<std::int64_t>&) {}
void DatasetWriter::write_cells(std::int64_t, std::span<const std::int64_t>) {}
void DatasetWriter::commit() {}

}  // namespace lano
