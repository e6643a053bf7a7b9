// Decides which source describes the cluster, and checks that the other sources agree.
//
// Sources are asked in a fixed order, and the first that says something decides:
//   a launcher that started this process as a rank:  torchrun, Open MPI, PMIx, PMI, a Slurm step;
//   a person:                                        --host, --hostfile, --worker_hosts,
//                                                    ROTA_HOSTS=a,b;
//   a system that started this host:                 TF_CONFIG, Kubeflow Trainer (PET_*),
//                                                    PyTorchJob, JobSet, an Indexed Job;
//   a system that reserved hosts:                    an allocation of Slurm, PBS, LSF, SGE;
//   the name of a pod:                               a StatefulSet;
//   nothing:                                         this host.
// All other sources that say something are compared with the first and with each other. A
// contradiction is an Error that shows both sides. A source that makes no sense is also an Error,
// even if another source decides. A StatefulSet's pods are known only by their names, so this
// source is asked only if no other source says anything. ROTA_WORLD, ROTA_SLOTS and a ROTA_HOSTS
// that is a number are compared with all sources. If no source says anything, a variable that
// declares several hosts in a form that no source reads is an Error: unread_hosts.h.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/sources.h"
#include "cluster/specification.h"

namespace rota::cluster {

// The name of the source if no other source says anything.
inline constexpr std::string_view kThisHost = "this host";

// One source, and what it says: a specification or, if it makes no sense, the reason.
struct Statement {
  std::string source;
  std::optional<Specification> specification{};
  std::string trouble{};
};

struct Reading {
  Specification chosen;
  std::vector<Statement> statements;  // One for each source that says something; the first decides.
};

// Asks all sources and decides. Ignores the environment in a rank that rotarun has started
// (ROTA_RENDEZVOUS_FD) and in an evaluator (ROTA_ROLE). Throws Error kInvalidArgument.
Reading read(const Given& all);

// Returns whether a launcher has started this process as a rank, even if what the launcher says
// makes no sense. Ignores the environment as read() does.
bool is_started_as_rank(const Given& all);

// Returns text for a person: which source decides, what each of the other sources says, and
// remarks. Every line ends with a newline. If read() throws, the text says what is wrong.
std::string explain(const Given& all);

}  // namespace rota::cluster
