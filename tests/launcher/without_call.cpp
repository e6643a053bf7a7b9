// Runs a program on a system that lacks a call: without_call subreaper|memfd PROGRAM [ARGUMENT...].
// A filter of system calls refuses this call to the program and to all processes that it starts.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace {

constexpr unsigned kAnswer = SECCOMP_RET_ERRNO;

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}

bool install(sock_filter* rules, unsigned short count) {
  sock_fprog program{.len = count, .filter = rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The lower half of the first argument is at its start, as on all little-endian machines.
bool refuse_subreaper() {
  sock_filter rules[] = {load(offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
                         load(offsetof(seccomp_data, args)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_CHILD_SUBREAPER, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, kAnswer | EINVAL),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  return install(rules, sizeof rules / sizeof *rules);
}

bool refuse_memfd() {
  sock_filter rules[] = {
      load(offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kAnswer | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  return install(rules, sizeof rules / sizeof *rules);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view call = argc > 2 ? argv[1] : "";
  const bool is_done = call == "subreaper" ? refuse_subreaper() : call == "memfd" && refuse_memfd();
  if (is_done) ::execv(argv[2], argv + 2);
  std::perror("without_call");
  return 98;
}
