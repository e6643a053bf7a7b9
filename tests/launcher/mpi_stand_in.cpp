// A library that is called as MPI's is, and one that needs it: a program that is linked with either
// looks from outside like a program of MPI's.
extern "C" int ROTA_STAND_IN();
extern "C" int ROTA_STAND_IN() { return 0; }
