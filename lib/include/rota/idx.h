// Reads data sets from IDX files, the format of MNIST and of similar sets.
//
// A file is a header of big-endian 32-bit integers, followed by bytes and nothing else. The file
// may be gzipped: its first two bytes show that, not its name. rota allocates memory only as the
// bytes arrive. So with a wrong header, rota allocates no more than the file's contents need.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>

#include <rota/dataset.h>
#include <rota/export.h>

namespace rota {

// Reads two files. `images` has three dimensions (count, rows, columns), `labels` has one. The
// number of classes is `classes` if given, otherwise the largest label plus one. Throws Error:
// kNotFound if a file is missing; UnreadableFile if it cannot be read; kBadData if it is not an IDX
// file, is damaged, empty, or shorter or longer than its header says, if the two counts differ, or
// if a label is not below `classes`; kNoMemory.
ROTA_EXPORT Dataset read_idx(const std::filesystem::path& images,
                             const std::filesystem::path& labels,
                             std::optional<std::size_t> classes = {});

// Reads a file of images alone, to predict their classes. Every label is 0, and means nothing.
// Throws Error as read_idx() does.
ROTA_EXPORT Dataset read_idx_images(const std::filesystem::path& images, std::size_t classes);

struct TrainAndTest {
  Dataset train;
  Dataset test;  // Has the shape and classes of `train`.
};

// Reads the four files of a folder by their usual names, each with or without ".gz":
// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte.
// A dot may be before "idx", as in train-images.idx3-ubyte.
// The training set decides the number of classes, unless `classes` is given. Throws Error as
// read_idx() does, and kBadData if the two sets differ in shape.
ROTA_EXPORT TrainAndTest read_idx_folder(const std::filesystem::path& folder,
                                         std::optional<std::size_t> classes = {});

}  // namespace rota
