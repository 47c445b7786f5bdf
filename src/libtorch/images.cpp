#include "libtorch/images.h"

#include <vector>

namespace lano {

// Without a copy: channels stay fastest in memory.
torch::Tensor to_image(const torch::Tensor& fields, const Shape& mesh) {
  std::vector<std::int64_t> sizes{fields.size(0)}, order{0};
  sizes.insert(sizes.end(), mesh.begin(), mesh.end());
  sizes.push_back(fields.size(2));
  order.push_back(static_cast<std::int64_t>(mesh.size()) + 1);
  for (std::size_t a = 0; a < mesh.size(); ++a) order.push_back(static_cast<std::int64_t>(a) + 1);
  return fields.unflatten(1, at::IntArrayRef(mesh)).view(sizes).permute(order);
}

torch::Tensor from_image(const torch::Tensor& image) { return image.flatten(2).transpose(1, 2); }

torch::Tensor pad_image(const torch::Tensor& image, const Shape& sizes) {
  std::vector<std::int64_t> added;  // before and after, from the last axis to the first
  bool any = false;
  for (std::size_t a = sizes.size(); a-- > 0;) {
    added.push_back(0);
    added.push_back(sizes[a] - image.size(static_cast<std::int64_t>(a) + 2));
    any = any || added.back() > 0;
  }
  return any ? torch::constant_pad_nd(image, added) : image;
}

torch::Tensor crop_image(torch::Tensor image, const Shape& mesh) {
  for (std::size_t a = 0; a < mesh.size(); ++a) image = image.narrow(static_cast<std::int64_t>(a) + 2, 0, mesh[a]);
  return image;
}

torch::nn::AnyModule register_convolution(torch::nn::Module& owner, const std::string& name, std::int64_t axes,
                                          std::int64_t in, std::int64_t out, std::int64_t side, bool bias) {
  const std::int64_t padding = side / 2;
  switch (axes) {
    case 1:
      return torch::nn::AnyModule(owner.register_module(
          name, torch::nn::Conv1d(torch::nn::Conv1dOptions(in, out, side).padding(padding).bias(bias))));
    case 2:
      return torch::nn::AnyModule(owner.register_module(
          name, torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, side).padding(padding).bias(bias))));
    default:
      return torch::nn::AnyModule(owner.register_module(
          name, torch::nn::Conv3d(torch::nn::Conv3dOptions(in, out, side).padding(padding).bias(bias))));
  }
}

}  // namespace lano
