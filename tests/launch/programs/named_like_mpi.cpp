// Stands for an MPI by its name alone.
extern "C" int named_like_mpi() { return 40; }
