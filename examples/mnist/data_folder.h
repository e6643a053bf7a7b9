// Where the data set lies, unless the command line says.
#pragma once
#include <filesystem>

// Where the build found it or, on a machine that has no such folder, beside this program.
std::filesystem::path data_folder();
