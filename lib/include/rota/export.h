// Marks the public symbols of the shared library, which is built with hidden visibility.
#pragma once

#define ROTA_EXPORT __attribute__((visibility("default")))
#define ROTA_HIDDEN __attribute__((visibility("hidden")))  // For a part of a marked class.
