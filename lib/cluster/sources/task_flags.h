// The flags by which programs of old tutorials are told their cluster:
//   --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=worker --task_index=1
#pragma once
#include <map>
#include <string>
#include <vector>

namespace rota::cluster {

struct TaskFlags {
  std::map<std::string, std::string> values;  // By name, without hyphens; the four alone.
  std::vector<std::string> rest;              // The other arguments, in their order.
};

// Flags begin with one hyphen or two, and their value follows after "=" or as the next argument.
// They end at "--". Throws Error kInvalidArgument: no value, or two that differ.
TaskFlags parse_task_flags(const std::vector<std::string>& arguments);

}  // namespace rota::cluster
