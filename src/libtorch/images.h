// Fields on a mesh as images, channels first, for convolutions and Fourier transforms of one, two or three axes.
#pragma once

#include <torch/torch.h>

#include <string>

#include "core/shape.h"

namespace lano {

torch::Tensor to_image(const torch::Tensor& fields, const Shape& mesh);  // [B,N,C] -> [B,C,n1,n2,...]
torch::Tensor from_image(const torch::Tensor& image);                    // [B,C,n1,n2,...] -> [B,N,C]

// Zeros after the last points of each axis until it has `sizes` points, and the first `mesh` points of each axis.
torch::Tensor pad_image(const torch::Tensor& image, const Shape& sizes);
torch::Tensor crop_image(torch::Tensor image, const Shape& mesh);

// A convolution over `axes` axes with a kernel of `side` points each, zero padded to keep the size, registered under
// `name`.
torch::nn::AnyModule register_convolution(torch::nn::Module& owner, const std::string& name, std::int64_t axes,
                                          std::int64_t in, std::int64_t out, std::int64_t side, bool bias = true);

}  // namespace lano
