// bytes -> TOML -> a config -> TOML -> the same config.
#include <cstdlib>

#include "core/config.h"
#include "core/error.h"
#include "fuzzer.h"
#include "model_spec/lano_config.h"

namespace {

struct Bound {
  lano::LanoConfig model;
  bool flag = false;
  double rate = 0;
  std::string name;
  std::vector<double> list;
  lano::Schema schema;
  Bound() {
    lano::bind_lano_config(schema, model);
    schema.bind("flag", flag, "");
    schema.bind("name", name, "");
    schema.bind("train.rate", rate, "");
    schema.bind("train.list", list, "");
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    lano::flat_toml(text, "reading");
  } catch (const lano::Error&) {
  }
  try {
    Bound first, second;
    first.schema.load_text(text, "reading");
    const std::string written = first.schema.to_toml();
    second.schema.load_text(written, "reading");
    if (second.schema.to_toml() != written) std::abort();
  } catch (const lano::Error&) {
  }
  return 0;
}

namespace lano::fuzz {

std::vector<std::string> seeds() {
  return {Bound().schema.to_toml(),
          "flag = true\nname = \"a \\\"b\\\" \\u00e9 \\n\"\n[train]\nrate = 1e-3\nlist = [1, 2.5, -3, 0x10, 1_000]\n",
          "name = '''\nlines\n'''\n[model]\nwidth = 64 # why\nbias = 'sum'\ndwc = false\n",
          "train = {rate = 1, list = []}\n\"flag\" = true\nmodel.width = 8\nmodel.\"heads\" = 2\n",
          "a = 1979-05-27T07:32:00Z\nb = 07:32:00.999\nc = [[1, 2], ['x']]\n[[d]]\ne = inf\n[[d]]\nf = nan\n",
          "name = \"\"\"a\\\n  b\"\"\"\n[train]\nrate = -inf\n"};
}

std::vector<std::string> words() {
  return {"[",
          "]",
          "[[",
          "]]",
          "{",
          "}",
          " = ",
          ".",
          ",",
          "#",
          "\n",
          "\r\n",
          "\"",
          "'",
          "\"\"\"",
          "'''",
          "\\u0000",
          "\\U0010ffff",
          "\\x",
          "true",
          "false",
          "inf",
          "-nan",
          "1e308",
          "0x7fffffffffffffff",
          "9223372036854775808",
          "1979-05-27",
          "T00:00:00Z",
          "model.width",
          "train.list = [",
          "[train]\n",
          "\xef\xbb\xbf",
          "\xff",
          "a.a.a.a.a.a.a.a."};
}

}  // namespace lano::fuzz
