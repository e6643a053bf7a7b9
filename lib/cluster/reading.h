// Which of the sources decides, and whether the others agree.
//
// Sources are asked in a fixed order, and the first that says something decides:
//   who has started this process as a rank:  torchrun, Open MPI, PMIx, PMI, a step of Slurm's;
//   what a person wrote:                     --host, --hostfile, --worker_hosts, ROTA_HOSTS=a,b;
//   who has started this host:               TF_CONFIG, Kubeflow Trainer (PET_*), PyTorchJob,
//                                            JobSet, an Indexed Job, a StatefulSet;
//   what there is room on:                   an allocation of Slurm's;
//   nothing:                                 this host.
// All others that say something are held against it and against each other. A contradiction is an
// Error that has both sides; so is a source that makes no sense, even where another one decides.
// A StatefulSet's pods are known by their names alone, so that it is asked only where all above say
// nothing. ROTA_WORLD, ROTA_SLOTS and a ROTA_HOSTS that is a number are held against all of them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// The source where nothing else says anything.
inline constexpr std::string_view kThisHost = "this host";

// One source, and what it says: a specification or, where it makes no sense, why.
struct Statement {
  std::string source;
  std::optional<Specification> specification{};
  std::string trouble{};
};

struct Reading {
  Specification chosen;
  std::vector<Statement> statements;  // Of all who said something, the one that decided first.
};

// Nothing of the environment is looked at in a rank that rotarun has started (ROTA_RENDEZVOUS_FD),
// or an evaluator (ROTA_ROLE).
// Throws Error kInvalidArgument.
Reading read(const Given& all);

// For a person: who decided, what each of the others said, and what to know beside; lines that end
// with a newline. Says what is wrong where read() throws.
std::string explain(const Given& all);

}  // namespace rota::cluster
