// A library between the program and its MPI, as PETSc or HDF5 are.
extern "C" int named_like_mpi();
extern "C" int uses_mpi() { return named_like_mpi(); }
