// The settings that the command line gives.
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
  std::string device = "cpu";
  rota::Codec codec = rota::Codec::kIdentity;
  std::size_t replicas = 1;  // Threads of this process; each is a rank.
  bool json = false;
  bool evaluates = false;           // Instead of training.
  std::filesystem::path predicted;  // Images to predict, instead of training. Empty: none.
  double validation = 0;            // Share of the training set that is only evaluated.
  std::filesystem::path logs;       // For TensorBoard. Empty: no summaries.
  std::filesystem::path exports;    // For published models. Empty: nothing is published.
  rota::TrainerOptions trainer;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Parses the command line. For --help, prints the help and ends the program. Throws UsageError.
Settings parse_settings(int argc, char** argv);
