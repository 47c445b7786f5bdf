"""Fails where a tensor is made without the options (device, type) of an input: it would stay on the CPU
while the model is on another device. Parameters and buffers are moved with their model;
a line that ends in "// CPU" means it."""
import pathlib
import re
import sys

MADE = re.compile(r"torch::(tensor|zeros|ones|empty|full|arange|linspace|eye|rand|randn|randperm|"
                  r"scalar_tensor|from_blob)\(")
GOOD = re.compile(r"options|_like\(|register_parameter|register_buffer|// CPU")


def statements(text):
    """(line number, statement): up to a semicolon, with the rest of its last line, where a comment may stand."""
    start, number = 0, 1
    for match in re.finditer(r";[^\n]*\n", text):
        yield number, text[start:match.end()]
        number += text.count("\n", start, match.end())
        start = match.end()


def faults(root):
    for path in sorted((root / "src" / "libtorch").glob("*.cpp")):
        for number, statement in statements(path.read_text()):
            if MADE.search(statement) and not GOOD.search(statement):
                yield f"{path}:{number}: {statement.strip().splitlines()[-1].strip()}"


def self_test():
    """The check must be able to fail."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "src" / "libtorch"
        source.mkdir(parents=True)
        (source / "a.cpp").write_text("x = 1;\ny = torch::zeros(\n    {3});\n"
                                      "z = torch::zeros({3}, x.options());\nu = torch::eye(2);  // CPU\n")
        found = list(faults(pathlib.Path(folder)))
        assert len(found) == 1 and "a.cpp:2" in found[0], found


if __name__ == "__main__":
    self_test()
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "every tensor is made with the options of an input")
    sys.exit(1 if found else 0)
