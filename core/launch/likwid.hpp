// likwid-pin's strings, read and written: `strata launch --bind likwid:S0:0-3@S1:0-3`. The language is that
// of likwid 5 (its manual page likwid-pin(1), "CPU EXPRESSION"); it names PUs and says nothing of memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/launch/placement.hpp"

namespace strata::launch {

/// Whether a --bind is a string of likwid's: "likwid:EXPRESSION".
bool is_likwid(std::string_view bind);

/// The PUs, by the system's numbers, that an expression gives to each process in the order of its threads.
/// Processes are separated by '_' as for likwid-mpirun -pin, parts by '@'. A part is one of
///     0,2-4                 the system's numbers (refused in a part of the machine, where likwid reads
///                           them as L:N:0,2-4)
///     S0:0-3   L:S0:0-3     numbers within a domain, physical cores first, then their SMT siblings
///     L:0-3                 within N
///     S0                    all of a domain, core by core
///     E:S0:4[:CHUNK:STRIDE[:OFFSET]]   so many, CHUNK of every STRIDE, counted core by core
///     S:scatter[:COUNT]     in turn over all domains of a kind, physical cores first
///     S:balanced[:COUNT]    the same number in each, core by core
/// and a domain N (all), S (socket), D (die), C (last level cache) or M (NUMA node) with its number. Only PUs
/// that this process may use are in domains. Throws Error, which names the part: for what is no such
/// expression, domains and numbers that are not there, and PUs named twice (likwid takes them again in turn).
std::vector<std::vector<int>> likwid_pus(const machine::Machine& machine, std::string_view expression);

/// A wish whose --bind is a string of likwid's, with the list of its PUs; without a --layout the string says
/// how many threads there are. Any other wish comes back as it is. Throws Error where the two disagree.
Wish with_likwid_list(const machine::Machine& machine, Wish wish);

/// PUs in this order as likwid-pin -c takes them: system's numbers such as "0-3,8", or "L:N:..." where this
/// process may use only a part of the machine and likwid counts within that.
std::string likwid_list(const machine::Machine& machine, const std::vector<int>& pus);

}  // namespace strata::launch
