"""Strata by Spack, from the checkout that this file lies in. contrib/spack/README.md says how."""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *

CHECKOUT = pathlib.Path(__file__).resolve().parents[6]


class Strata(CMakePackage):
    """What a parallel machine can do, and how to lay a program out on it: benchmarks with bounds, a launcher
    that binds threads and pages, task graphs over teams of processes, solvers.
    """

    git = f"file://{CHECKOUT}"

    license("BSD-3-Clause")

    version("0.1.0", branch="main")

    variant("mpi", default=True, description="Teams over several nodes, benchmarks of messages")
    variant("fftw", default=True, when="+mpi", description="The benchmark MPIFFT")
    variant("hdf5", default=True, description="Field files of solvers (VTKHDF)")
    variant("metis", default=True, description="Patches to processes by what they exchange")
    variant("xz", default=True, description="Packed grids of the solver of flows")
    variant("papi", default=True, description="Hardware counters of tasks")
    variant("valgrind", default=True, description="Simulated counters of tasks")
    variant("fortran", default=True, description="The Fortran module of teams")
    variant("python", default=True, description="characterize, study, tune, report; task graphs from Python")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.21:", type="build")
    generator("ninja")

    depends_on("hwloc@2:")
    depends_on("fmt")
    depends_on("tomlplusplus")
    depends_on("openblas", type="run")  # opened by its path when DGEMM and HPL run
    depends_on("mpi", when="+mpi")
    depends_on("fftw@3", when="+fftw")
    depends_on("hdf5", when="+hdf5")
    depends_on("metis@5", when="+metis")
    depends_on("xz", when="+xz")
    depends_on("papi", when="+papi")
    depends_on("valgrind", when="+valgrind")
    depends_on("catch2", type="test")

    with when("+python"):
        extends("python@3.11:")
        depends_on("py-nanobind@2.2:", type="build")
        depends_on("py-numpy@1.26:", type="run")
        depends_on("py-matplotlib@3.8:", type="run")
        depends_on("py-jinja2@3.1:", type="run")
        depends_on("py-rich@13.7:", type="run")
        depends_on("py-pandas@2.1:", type="run")
        depends_on("py-pyarrow@15:", type="run")
        depends_on("py-scipy@1.11:", type="run")

    build_targets = ["product"]

    def cmake_args(self):
        args = [
            self.define_from_variant("STRATA_MPI", "mpi"),
            self.define_from_variant("STRATA_FFTW", "fftw"),
            self.define_from_variant("STRATA_HDF5", "hdf5"),
            self.define_from_variant("STRATA_METIS", "metis"),
            self.define_from_variant("STRATA_XZ", "xz"),
            self.define_from_variant("STRATA_PAPI", "papi"),
            self.define_from_variant("STRATA_VALGRIND", "valgrind"),
            self.define_from_variant("STRATA_FORTRAN", "fortran"),
            self.define_from_variant("STRATA_PYTHON_GRAPH", "python"),
            self.define("STRATA_SOLVERS", True),
            self.define("STRATA_BENCHMARKS", True),
            self.define("STRATA_NATIVE", False),  # Spack's wrappers name the processor
            self.define("STRATA_EXAMPLES", False),
            self.define("STRATA_TESTS", self.run_tests),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
        return args

    @run_after("install", when="+python")
    def install_python(self):
        """The package, which no build makes."""
        install_tree("python/strata", join_path(python_platlib, "strata"))

    def setup_run_environment(self, env):
        env.set("STRATA_BLAS_CANDIDATES", self.spec["openblas"].libs[0])
        if self.spec.satisfies("+python"):
            env.set("STRATA_PYTHON", self.spec["python"].command.path)
