// Owned handles of libzip, for the readers of .npz and .pt files. Private to src/data.
#pragma once

#include <zip.h>

#include <memory>

namespace lano {

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

using ZipArchive = std::unique_ptr<zip_t, ZipCloser>;
using ZipEntry = std::unique_ptr<zip_file_t, ZipCloser>;

}  // namespace lano
