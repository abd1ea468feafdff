# Joins lua/*.lua into one Redis Functions library and writes it as a C array.
# The name carries a digest of the text, so two versions never share a name.
# Without a policy version, a script would expand "@VERSION@" itself.
cmake_minimum_required(VERSION 3.25)

file(GLOB files "${DIR}/*.lua")
list(SORT files)
set(text "")
foreach(file IN LISTS files)
    file(READ "${file}" part)
    string(APPEND text "${part}\n")
endforeach()
string(SHA256 digest "${text}")
string(SUBSTRING "${digest}" 0 8 version)
string(REPLACE "@VERSION@" "${version}" text "${text}")
file(WRITE "${OUT}.txt" "#!lua name=errand_${version}\n${text}")
file(READ "${OUT}.txt" hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "/* Generated from common/lua by embed.cmake. */\n"
     "#include \"common/lua_library.h\"\n"
     "const char lua_library_version[] = \"${version}\";\n"
     "const char lua_library[] = {${bytes}0};\n"
     "const unsigned long lua_library_len = sizeof(lua_library) - 1;\n")
