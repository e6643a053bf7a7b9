// What the command line asks for.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>

#include <rota/codec.h>
#include <rota/trainer.h>

struct Settings {
  std::string model;
  std::filesystem::path data;
  std::string plan;
  rota::Codec codec = rota::Codec::kIdentity;
  std::size_t replicas = 1;  // Threads of this process.
  bool json = false;
  rota::TrainerOptions trainer;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Prints the help and ends the program where that is asked for. Throws UsageError.
Settings parse_settings(int argc, char** argv);
