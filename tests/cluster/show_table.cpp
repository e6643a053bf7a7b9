// Every rank runs this program. The first rank of each host prints its rank table.
#include <cstdio>

#include <rota/communicator.h>

int main() {
  const rota::Communicator comm(rota::CommunicatorOptions::from_environment());
  const rota::RankTable& table = comm.rank_table();
  if (table.rows[comm.rank()].local_rank == 0) std::fputs(rota::to_text(table).c_str(), stdout);
  return 0;
}
