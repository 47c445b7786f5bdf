# Writes a C++ file that holds files as bytes, for programs that need no other files at run time.
# cmake -DOUT=file.cpp "-DFILES=a;b" -P LanoEmbed.cmake; a file's name is its last part.
set(text "#include \"serve/embedded.h\"\n\nnamespace lano::serve {\nnamespace {\n\n")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(LENGTH "${bytes}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "constexpr unsigned char kFile${index}[] = {\n${bytes}\n0};\n")
  string(APPEND entries "    {\"${name}\", {reinterpret_cast<const char*>(kFile${index}), ${length}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
string(APPEND text "\nconst EmbeddedFile kFiles[] = {\n${entries}};\n\n}  // namespace\n\n"
  "std::span<const EmbeddedFile> embedded_files() { return kFiles; }\n\n}  // namespace lano::serve\n")
file(WRITE ${OUT} "${text}")
