// The default folder of the data set.
#pragma once
#include <filesystem>

// Returns the folder that the build found. On a machine without this folder, returns data/ next to
// the program.
std::filesystem::path data_folder();
