// Reads data sets in IDX files, the format of MNIST and of the sets made in its likeness.
//
// A file is a header of big-endian 32-bit integers and then bytes, nothing else; it may be gzipped,
// which is told by its first two bytes and not by its name. It is read in one go, into memory that
// is taken as the bytes come: whatever a header says, no more is taken than the file holds.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>

#include <rota/dataset.h>
#include <rota/export.h>

namespace rota {

// `images` has three dimensions (count, rows, columns), `labels` one. The number of classes is the
// largest label plus one, or `classes` where it is given.
// Throws Error: kSystem when a file is missing or cannot be read; kBadData when it is not such a
// file, is damaged, empty, shorter or longer than its header says, when the two counts differ, or
// when a label is not below `classes`; kNoMemory.
ROTA_EXPORT Dataset read_idx(const std::filesystem::path& images,
                             const std::filesystem::path& labels,
                             std::optional<std::size_t> classes = {});

struct TrainAndTest {
  Dataset train;
  Dataset test;  // Of the same shape and classes.
};

// Reads the four files of a folder by their customary names, each with or without ".gz":
// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte.
// The training set says how many classes there are, unless `classes` does.
// Throws Error as read_idx does, and kBadData when the two sets differ in shape.
ROTA_EXPORT TrainAndTest read_idx_folder(const std::filesystem::path& folder,
                                         std::optional<std::size_t> classes = {});

}  // namespace rota
