// What the shared library shows: it is built with hidden visibility, and its public face is marked.
#pragma once

#define ROTA_EXPORT __attribute__((visibility("default")))
#define ROTA_HIDDEN __attribute__((visibility("hidden")))  // For what lies inside a marked class.
