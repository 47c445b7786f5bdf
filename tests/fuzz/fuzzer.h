// What a fuzz target has in addition to libFuzzer's entry: complete files to begin with. Findings end the process (a
// sanitizer, std::abort); only lano::Error is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lano::fuzz {

std::vector<std::string> seeds();  // small whole files of every kind the reader knows
std::vector<std::string> words();  // what stands in such files, for changes that hit

}  // namespace lano::fuzz
