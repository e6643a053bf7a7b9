// Parses the flags that describe the cluster to programs of old tutorials:
//   --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=worker --task_index=1
#pragma once
#include <map>
#include <string>
#include <vector>

namespace rota::cluster {

struct TaskFlags {
  std::map<std::string, std::string> values;  // By name, without hyphens; only these four flags.
  std::vector<std::string> rest;              // The other arguments, in their order.
};

// A flag begins with one or two hyphens. Its value follows "=" or is the next argument. Flags end
// at "--". Throws Error kInvalidArgument if a flag has no value, or two different values.
TaskFlags parse_task_flags(const std::vector<std::string>& arguments);

}  // namespace rota::cluster
