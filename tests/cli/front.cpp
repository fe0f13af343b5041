// The native front as a user meets it: what it prints and how it ends.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run.hpp"

using namespace strata::tests;

namespace {

Said strata_says(std::vector<std::string> words, const std::string& python = "/nonexistent") {
    words.insert(words.begin(), STRATA_FRONT);
    return run(words, python);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Exactly one error, on standard error alone.
void check_refused(const Said& said, int status, const std::string& part) {
    INFO(said.err);
    CHECK(said.status == status);
    CHECK(said.out.empty());
    CHECK(said.err.rfind("strata: error: ", 0) == 0);
    CHECK(said.err.find("strata: error: ", 1) == std::string::npos);
    CHECK(has(said.err, part));
}

/// The front beside stand-ins for the benchmarks, which say what they were asked.
std::string installed(const Folder& folder, bool with_mpi) {
    std::filesystem::create_directories(folder / "bin");
    std::filesystem::copy_file(STRATA_FRONT, folder / "bin/strata");
    (void)folder.script("libexec/strata/strata-bench", "echo single \"$@\"");
    if (with_mpi) (void)folder.script("libexec/strata/strata-bench-mpi", "echo mpi \"$@\"");
    return folder / "bin/strata";
}

}  // namespace

TEST_CASE("help names every command in groups with examples, and without words the help is shown") {
    const Said help = strata_says({"--help"});
    CHECK(help.status == 0);
    for (const char* word : {"characterize", "machine", "launch", "bench", "report", "doctor", "examples:"})
        CHECK(has(help.out, word));
    CHECK_FALSE(has(help.out, "machine-measure"));
    CHECK(strata_says({}).out == help.out);
    CHECK(strata_says({"--version"}).out.rfind("strata ", 0) == 0);
}

TEST_CASE("a program whose part is not built yet is had from the checkout, which starts the command anew") {
    const Folder folder;
    const std::string front = installed(folder, true);
    (void)folder.script("checkout/setup/part.sh", "echo builds \"$@\"");
    std::ofstream(folder / "checkout/setup/parts.csv")
        << "part,seconds,about,programs\nnpb,1,the suite,strata-npb "
           "strata-npb-mpi\nmpm,1,points,strata-mpm\n";
    std::filesystem::create_directories(folder / "share/strata");
    std::ofstream(folder / "share/strata/parts") << "first\nmpm\n";
    setenv("STRATA_ROOT", (folder / "checkout").c_str(), 1);
    CHECK(run({front, "bench", "npb", "--list", "a b"}).out == "builds npb bench npb --list a b\n");
    CHECK(run({front, "bench", "stream"}).out == "single stream\n");
    // A part that the tree has and a program that was left out: nothing to be built.
    check_refused(run({front, "run", "mpm"}), strata::kBadInput, "there is no such case file");
    unsetenv("STRATA_ROOT");
    check_refused(run({front, "bench", "npb", "--list"}), strata::kFailure, "strata-npb is not built");
}

TEST_CASE("the solver of a case is found where its statement is plain, whatever stands before it") {
    const Folder folder;
    const std::string front = installed(folder, false), file = folder / "case.toml";
    (void)folder.script("libexec/strata/strata-sample", "echo sample \"$@\"");
    const auto read = [&](const std::string& text) {
        std::ofstream(file) << text;
        return run({front, "run", file, "--help"});
    };
    for (const char* plain :
         {"solver = \"sample\"", "solver='sample'", "\"solver\" = 'sample'\r\n", "'solver'\t=\t\"sample\" \t",
          "\xEF\xBB\xBFsolver = \"sample\"# of = 'it'\n[grid]\n",
          "# solver = \"x\"\n\n  solver = \"sample\"\n",
          "title = \"solver = 'x'\" # it\nyear = 2_026\ngrid-cells = 4\nsolver = \"sample\"\n"}) {
        INFO(plain);
        CHECK(read(plain).out == "sample " + file + " --help\n");
    }
    // What needs a parser is nobody's guess.
    for (const char* other :
         {"solver = \"\"\"sample\"\"\"", "solver = '''sample'''", "\"s\\u006flver\" = \"sample\"",
          "solver = sample", "solver = \"sam\\u0070le\"", "solver = \"sample\" junk", "solver = \"sample",
          "[grid]\nsolver = \"sample\"", "note = \"\"\"\nsolver = 'sample'\n\"\"\"\nsolver = 'other'\n",
          "list = [\n]\nsolver = 'sample'\n", ""}) {
        INFO(other);
        const Said said = read(other);
        check_refused(said, strata::kBadInput, "a case says which solver runs it");
        CHECK(has(said.err, "try: write solver = \"NAME\" on the first line\n"));
    }
    check_refused(run({front, "run", folder / "bin"}), strata::kBadInput, "a case is a file");
    check_refused(run({front, "run", "/dev/zero"}), strata::kBadInput, "a case is a file");
    check_refused(read("note = \"" + std::string(2'000'000, 'x')), strata::kBadInput,
                  "more than 1048576 bytes");
}

TEST_CASE("every native command has help") {
    for (const char* command : {"machine", "bench", "launch", "balance"}) {
        const Said help = strata_says({command, "--help"});
        CHECK(help.status == 0);
        CHECK(help.out.rfind(std::string("usage: strata ") + command, 0) == 0);
        CHECK(has(help.out, "examples:"));
    }
}

TEST_CASE(
    "reading this machine loads no library of X11, OpenCL, GPUs or XML, which is what makes hwloc slow") {
    // The C library's loader lists every file that it opens, for a program itself and on its behalf.
    const Said said = run({"/usr/bin/env", "LD_DEBUG=files", STRATA_FRONT, "machine", "--no-findings"});
    CHECK(said.status == 0);
    CHECK(has(said.err, "libhwloc"));
    for (const char* library : {"hwloc_", "libX11", "libOpenCL", "libxml2", "libcuda", "libnvidia", "libmpi"})
        CHECK_FALSE(has(said.err, library));
}

TEST_CASE("an unknown command is refused and the nearest one named") {
    check_refused(strata_says({"machien"}), strata::kBadInput, "try: strata machine\n");
    check_refused(strata_says({"xyzzy"}), strata::kBadInput, "try: strata --help\n");
    check_refused(strata_says({"machine", "--jsno"}), strata::kBadInput, "try: --json\n");
}

TEST_CASE("a program that asks for it gets the refusal as a document") {
    setenv("STRATA_ERRORS", "json", 1);
    const Said said = strata_says({"launch", "--layout", "1y1", "--", "true"});
    unsetenv("STRATA_ERRORS");
    CHECK(said.status == strata::kBadInput);
    CHECK(said.err.starts_with(R"({"schema":"strata.error/1","message":")"));
    CHECK(has(said.err, R"("given":"--layout 1y1")"));
    CHECK(said.err.ends_with("\"code\":2}\n"));
}

TEST_CASE("each bad description of a machine gets one error") {
    const auto refused = [](const std::string& input, const std::string& part) {
        check_refused(strata_says({"machine", "--input", input}), strata::kBadInput, part);
    };
    refused("/nonexistent.xml", "at: /nonexistent.xml");
    refused("synthetic:cores:many", "given: synthetic:cores:many");
    refused(STRATA_FIXTURES "/not-a-topology.xml", "try: lstopo machine.xml");
    refused("/dev/null", "try: lstopo machine.xml");
}

TEST_CASE("a case that is there and cannot be read is not said to be absent") {
    const Folder folder;
    std::filesystem::create_symlink("round.toml", folder / "round.toml");
    check_refused(strata_says({"run", folder / "round.toml"}), strata::kBadInput,
                  "the case file cannot be read: Too many levels of symbolic links");
    check_refused(strata_says({"run", folder / "absent.toml"}), strata::kBadInput,
                  "there is no such case file");
}

TEST_CASE(
    "the table of this machine says what may be used, and that findings need Python where there is none") {
    const Said said = strata_says({"machine"});
    CHECK(said.status == 0);
    CHECK(said.err.empty());
    for (const char* row : {"machine ", "processor ", "memory 0 ", "allowed ", "counters ", "placement "})
        CHECK(has("\n" + said.out, std::string("\n") + row));
    CHECK(has(said.out, "findings need Strata's Python side"));
}

TEST_CASE("findings get the facts as a document in memory") {
    const Folder folder;
    const std::string python = folder.script("python3", "echo \"[$1 $2 $3 $4 $5]\"; cat \"$6\"");
    const Said said = strata_says({"machine", "--input", "synthetic:core:3 pu:2"}, python);
    CHECK(said.status == 0);
    const size_t at = said.out.find("[-P -m strata findings --machine]\n");
    REQUIRE(at != std::string::npos);
    CHECK(has(said.out.substr(at), "{\"schema\":\"strata.machine/1\",\"source\":\"synthetic:core:3 pu:2\""));
    CHECK(said.out.find("described by") < at);  // the table comes first
}

TEST_CASE("a drawing gets the facts and the file's name, and no table is printed") {
    const Folder folder;
    const std::string python = folder.script("python3", "echo \"$4 $5 $7 $8\"; cut -c1-27 \"$6\"");
    CHECK(strata_says({"machine", "--svg", "a b.svg"}, python).out ==
          "draw --machine --svg a b.svg\n{\"schema\":\"strata.machine/1\n");
}

TEST_CASE("JSON of a described machine holds nothing of this one") {
    const Said said = strata_says({"machine", "--json", "--input", STRATA_FIXTURES "/gpu-node.xml"});
    CHECK(said.status == 0);
    CHECK(has(said.out, "\"hostname\":\"synthetic-fixture\""));
    CHECK(has(said.out, "\"free_bytes\":null"));
    CHECK(has(said.out, "\"counters\":{\"paranoid\":null,\"software\":false,\"hardware\":false"));
}

TEST_CASE("what Python does is passed on word by word, and its absence is said with the remedy") {
    const Folder folder;
    const std::string python = folder.script("python3", "echo \"$@\"; exit 7");
    const Said said = strata_says({"characterize", "--full", "a b"}, python);
    CHECK(said.out == "-P -m strata characterize --full a b\n");
    CHECK(said.status == 7);
    CHECK(strata_says({"machine", "--measure", "--full"}, python).out ==
          "-P -m strata machine-measure --full\n");
    check_refused(strata_says({"characterize"}), strata::kFailure, "try: run ./strata");
    check_refused(strata_says({"machine", "--measure", "--input", "x.xml"}), strata::kBadInput,
                  "a described machine cannot be measured");
}

TEST_CASE("Python takes no module from the folder in which a command is typed") {
    const Folder folder;
    const std::string python = folder.script("python3", "echo \"[$PYTHONPATH]\"");
    for (const auto& [said, kept] :
         {std::pair{"/a:/b", "[/a:/b]\n"}, {"/a:", "[/a]\n"}, {":", "[]\n"}, {".:/a::lib:/b", "[/a:/b]\n"}}) {
        setenv("PYTHONPATH", said, 1);
        CHECK(strata_says({"report"}, python).out == kept);
    }
    unsetenv("PYTHONPATH");
}

TEST_CASE("a Python beside the program is used where it has the package, as after pip install") {
    const Folder folder;
    const std::string front = installed(folder, false);
    (void)folder.script("bin/python3", "echo \"$@\"");
    check_refused(run({front, "report"}, ""), strata::kFailure, "with the package strata");
    std::filesystem::create_directories(folder / "lib/python3.11/site-packages/strata-0.1.0.dist-info");
    CHECK(run({front, "report"}, "").out == "-P -m strata report\n");
}

TEST_CASE("output that cannot be written is an error") {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--help"}, {"machine", "--json"}, {"machine"}}) {
        std::vector<std::string> command = {STRATA_FRONT};
        command.insert(command.end(), words.begin(), words.end());
        const Said said = run(command, "/nonexistent", "/dev/full");
        CHECK(said.status == strata::kFailure);
        CHECK(has(said.err, "No space left on device"));
    }
}

TEST_CASE("a command that fails after more than a second says how long it took, and then the error") {
    const auto late = [](const std::string& words, const std::string& out) {
        return run({"/bin/sh", "-c", "sleep 1.1; exec \"" STRATA_FRONT "\" " + words}, "/nonexistent", out);
    };
    const Said full = late("machine --json", "/dev/full");
    CHECK(full.status == strata::kFailure);
    CHECK(full.err.rfind("in all ", 0) == 0);
    CHECK(full.err.find("strata: error: ") == full.err.find('\n') + 1);
    CHECK(has(full.err, "No space left on device"));

    // Wrong input is refused before the command begins; launch adds nothing to what its program says.
    check_refused(late("machine --jsno", ""), strata::kBadInput, "try: --json");
    CHECK(late("launch -- true", "").err.empty());
}

TEST_CASE("a benchmark gets its own options, and a layout goes to the launcher") {
    const Folder folder;
    const std::string front = installed(folder, true);
    CHECK(run({front, "bench", "stream", "--quick", "--json", "x"}).out ==
          "single stream --quick --json x\n");
    CHECK(run({front, "bench", "stream", "--layout", "1x1", "--quick"}).out == "single stream --quick\n");
    CHECK(run({front, "bench", "rings", "--layout=1x1", "--bind", "none"}).out == "mpi rings\n");
    CHECK(run({front, "bench", "--list"}).out == "mpi --list\n");
    check_refused(run({front, "bench", "stream", "--bind", "none"}), strata::kBadInput,
                  "--bind without --layout");
    check_refused(run({front, "bench", "stream", "--layout", "two"}), strata::kBadInput, "two");
    check_refused(run({front, "bench", "stream", "--layout", "1x100000"}), strata::kBadInput, "1x100000");
    check_refused(run({front, "bench", "--quick"}), strata::kBadInput, "name comes first");
    check_refused(run({front, "bench", "team-barrier", "--layout", "2x3"}), strata::kBadInput,
                  "strata bench team-barrier --layout 1x6");
}

TEST_CASE("without MPI its benchmarks are missing in words, and the others are listed") {
    const Folder folder;
    const std::string front = installed(folder, false);
    CHECK(run({front, "bench", "--list"}).out == "single --list\n");
    check_refused(run({front, "bench", "pingpong"}), strata::kFailure, "strata-bench-mpi is not built");
}
