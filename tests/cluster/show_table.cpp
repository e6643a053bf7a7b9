// A rank that shows who is where, once on each host, as this rank sees it.
#include <cstdio>

#include <rota/communicator.h>

int main() {
  const rota::Communicator comm(rota::CommunicatorOptions::from_environment());
  const rota::RankTable& table = comm.rank_table();
  if (table.rows[comm.rank()].local_rank == 0) std::fputs(rota::to_text(table).c_str(), stdout);
  return 0;
}
