// A manifest with every kind of entry, for tests of the manifest and for changes that spoil it.
#pragma once
#include "checkpoint/manifest.h"

namespace rota::checkpoint {

inline Manifest sample_manifest() {
  Manifest manifest;
  manifest.run = *run_id_from("0123456789abcdef0011223344556677");
  manifest.start = 3;
  manifest.view = 2;
  manifest.world_size = 4;
  manifest.step = 12'000;
  manifest.ranks = {0, 2, 3};
  manifest.stateful_ranks = {0, 1, 2, 3};
  manifest.facts = {{"seed", "17"}, {"model", "dense \"10\"\n\\ ä"}, {"empty", ""}};
  manifest.counters = {{"step", 12'000}, {"largest", UINT64_MAX}};
  manifest.tensors = {{"model/0.dense.weights", DataType::kFloat32, {784, 10}},
                      {"model/scalar", DataType::kFloat64, {}},
                      {"feedback", DataType::kBfloat16, {0, 3}}};
  manifest.files = {
      {"parameters-00000-of-00004.safetensors", (1 << 20) + 1, {0x0123abcd, 0xffffffff}},
      {"rank-00002-of-00004.safetensors", 1, {0}}};
  return manifest;
}

}  // namespace rota::checkpoint
