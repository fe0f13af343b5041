extern "C" int uses_mpi();
int main() { return uses_mpi() == 40 ? 0 : 1; }
