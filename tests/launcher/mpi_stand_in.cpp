// This source makes three libraries: one has the name of MPI's library, one that of the standard's
// ABI, and one needs the first. A program linked with any of them looks like an MPI program from
// outside.
extern "C" int ROTA_STAND_IN();
extern "C" int ROTA_STAND_IN() { return 0; }
