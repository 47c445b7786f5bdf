"""Fails where a comma operator joins statements, as in `a = 1, b = 2;`: each statement has a line of its own.

Without a parser of C++: comments and literals are blanked, what ends with a semicolon outside brackets is a statement,
and one that begins with an operand and an assignment, not with a type and a name, is no declaration."""
import pathlib
import re
import sys

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\''
                     r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
# What stands before an opening brace of a block; any other brace opens a list or an object.
BLOCK = re.compile(r"(\)|\belse|\bdo|\bconst|\bnoexcept|\boverride|[;:>])\s*$|^\s*$")
BEFORE = re.compile(r"\s*(?:(if(?:\s+constexpr)?|for|while|switch)\s*(?=\()|(?:else|do)\b|case\b[^:]*:(?!:)"
                    r"|default\s*:)")
RETURN = re.compile(r"(return|throw|co_return)\b")
EXPRESSION = re.compile(r"(?:\+\+|--|\*)*(?:@|[\w:]+)(?:@|(?:\.|->)[\w~]+)*\s*(?:[-+*/%&|^]?=|<<|>>|\+\+|--|$)")


def bare(text):
    """The code at its places, with blanks for comments, literals and lines of the preprocessor."""
    return BLANKED.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def statements(text):
    """Where each begins that ends with a semicolon, and itself without what stands in its braces."""
    around, now, depth, first = [], "", 0, 0
    for place, char in enumerate(text):
        if not now.strip():
            first = place
        if char == "{":
            around.append((now, depth, first))
            now, depth = "", 0
        elif char == "}":
            if not around:
                return
            now, depth, first = around.pop()
            now = "" if depth == 0 and BLOCK.search(now) else now + "{}"
        elif char == ";" and depth == 0:
            yield first, now
            now = ""
        else:
            depth += (char in "([") - (char in ")]")
            now += char


def operands(statement):
    """Where the statement behind if (...), for (...), else or a label begins."""
    first = 0
    while (before := BEFORE.match(statement, first)) is not None:
        first = before.end()
        depth = 0
        for place in range(first, len(statement) if before.group(1) else first):
            depth += (statement[place] == "(") - (statement[place] == ")")
            if depth == 0:
                first = place + 1
                break
    return first


def is_joined(statement):
    statement = statement[operands(statement):].strip()
    returned = RETURN.match(statement)
    if returned:
        statement = statement[returned.end():]
    shorter = None
    while shorter != statement:  # commas in brackets separate arguments
        statement, shorter = shorter or statement, re.sub(r"\([^()]*\)|\[[^][]*\]", "@", shorter or statement)
    while (shorter := re.sub(r"(\w)\s*<[\w:,\s@*&]*>", r"\1", statement)) != statement:
        statement = shorter
    first, comma, _ = statement.partition(",")
    return bool(comma) and (returned is not None or EXPRESSION.match(first.strip()) is not None)


def joined(path):
    text = path.read_text()
    for first, statement in statements(bare(text)):
        if is_joined(statement):
            yield text.count("\n", 0, first) + 1


def main():
    folders = [pathlib.Path(folder) for folder in sys.argv[1:]]
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in {".h", ".cpp", ".c"}]
    if not files:
        sys.exit("no C++ under " + " ".join(sys.argv[1:]))
    found = [f"{path}:{line}: a comma operator joins statements; give each a line" for path in files
             for line in joined(path)]
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
