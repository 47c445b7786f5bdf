#include "pictures.h"

#include <fmt/format.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "report/png_file.h"
#include "report/sheet.h"

namespace lano::cli {

void write_judged_pictures(const ShownSamples& shown, const std::string& picture, const std::string& animation) {
  if (!picture.empty()) write_file_atomically(picture, encode_png(draw_judged(shown)));
  if (animation.empty()) return;
  const std::string bytes = shown.samples.empty() ? "" : animate(shown, shown.samples.size() / 2);
  if (bytes.empty())
    fail_usage_plainly("drawing an animation",
                       fmt::format("the dataset '{}' does not have several times", shown.set.name), "use --picture");
  write_file_atomically(animation, bytes);
}

}  // namespace lano::cli
