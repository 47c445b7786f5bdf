// PyTorch's files of plain tensors (.pt, .pth), as torch.save writes them since version 1.6: a zip with a pickle of
// shapes and positions, and the numbers as separate entries. Read in parts, every length checked before it is used;
// nothing of the pickle is executed (data/torch_pickle.h). Older files (a bare pickle) are refused.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/array_source.h"

namespace lano {

// The names of the tensors and numbers of a file: keys and indices joined by '/', empty for a file of one tensor.
std::vector<std::string> torch_keys(const std::filesystem::path& path);

// One source for each key, over one opening of the file. An empty key stands for the only tensor.
std::vector<std::unique_ptr<ArraySource>> open_torch(const std::filesystem::path& path,
                                                     const std::vector<std::string>& keys);

}  // namespace lano
