// The names by which Fortran calls MLPlib. Compiled twice: for default integers of 4 bytes and of 8 bytes
// (-fdefault-integer-8, -i8). A Cray pointer is an address in both.
#include <cstdint>

#include "core/team/mlp/original.hpp"

#ifdef MLPLIB_INTEGER_8
using Integer = std::int64_t;
#else
using Integer = std::int32_t;
#endif

extern "C" {

/// GETMEM(xarray, xpoint, numbyt): `xarray` is the target of xpoint, which is not associated yet.
MLP_API void getmem_(void*, void** xpoint, const Integer* numbyt) { *xpoint = strata_getmem(*numbyt); }

/// GETMEM8: the same with an integer*8 size, for arrays of 2 GiB and more in a code with integers of 4 bytes.
MLP_API void getmem8_(void*, void** xpoint, const std::int64_t* numbyt) { *xpoint = strata_getmem(*numbyt); }

/// FORKIT(numpro, nowpro)
MLP_API void forkit_(const Integer* numpro, Integer* nowpro) { *nowpro = strata_forkit(*numpro); }

/// BARRIER(numpro)
MLP_API void barrier_(const Integer* numpro) { strata_gather(*numpro); }
}
