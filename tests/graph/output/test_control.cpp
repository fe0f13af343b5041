#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "core/base/json_value.hpp"
#include "core/run/steer/control.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

struct Fake {
    Pace pace{{100, std::nullopt, "s"}};
    double cfl = 0.5;
    int stopped = 0, checkpoints = 0;
    SteeredRun run;

    Fake() {
        pace.at(10, 1, 5);
        pace.at(20, 2, 10);
        run.name = "fake";
        run.pace = &pace;
        run.values = [this] {
            return std::vector<SteeringValue>{{"cfl", "", "Courant number", cfl, 0.1, 0.9}};
        };
        run.set = [this](const auto& changes) {
            for (const auto& change : changes) cfl = change.second;
            return std::int64_t{22};
        };
        run.checkpoint = [this] { return ++checkpoints, std::int64_t{21}; };
        run.stop = [this] { return ++stopped, std::int64_t{21}; };
    }
};

class Client {
  public:
    explicit Client(const fs::path& folder) : file_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        // The folder may be deep: by its descriptor the path is short.
        const int place = ::open((folder / "control").c_str(), O_RDONLY | O_DIRECTORY);
        std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/control.sock", place);
        REQUIRE(::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        ::close(place);
    }
    ~Client() { ::close(file_); }
    void send(const std::string& text) const {
        REQUIRE(::send(file_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    }
    /// What is there now.
    [[nodiscard]] std::string receive() const {
        std::string text(1 << 16, '\0');
        const ssize_t got = ::recv(file_, text.data(), text.size(), MSG_DONTWAIT);
        text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return text;
    }
    [[nodiscard]] bool closed() const {
        char c;
        return ::recv(file_, &c, 1, MSG_DONTWAIT) == 0 || (errno == ECONNRESET);
    }
    [[nodiscard]] int file() const { return file_; }

  private:
    int file_;
};

}  // namespace

TEST_CASE("what a killed run has left of its socket is removed, that of a run that goes on is not") {
    const TemporaryFolder folder;
    {
        const Control control(folder.path());
        Control::sweep(folder.path());
        CHECK(fs::exists(folder.path() / "control" / "control.sock"));
    }
    Control::sweep(folder.path());  // nothing there
    const pid_t child = ::fork();
    if (child == 0) {
        const Control control(folder.path());
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(fs::exists(folder.path() / "control" / "control.sock"));
    Control::sweep(folder.path());
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a run tells its state, parameters and series, and takes orders") {
    Fake fake;
    const auto ask = [&](const std::string& line) {
        return JsonValue::parse(answer(line, fake.run), "answer");
    };
    const JsonValue status = ask(R"({"get":"status"})");
    CHECK(status.member("ok").boolean());
    CHECK(status.member("step").integer() == 20);
    CHECK(status.member("time").number() == 2);
    CHECK(status.member("steps_per_second").number() == 2);
    CHECK(status.member("seconds_left").number() == 40);
    CHECK(status.member("done").number() == 0.2);
    const JsonValue parameters = ask(R"({"get":"parameters"})");
    CHECK(parameters.member("parameters").items().at(0).member("most").number() == 0.9);
    CHECK(ask(R"({"set":{"cfl":0.3}})").member("before_step").integer() == 22);
    CHECK(fake.cfl == 0.3);
    CHECK(ask(R"({"do":"checkpoint"})").member("after_step").integer() == 21);
    CHECK(ask(R"({"do":"stop"})").member("after_step").integer() == 21);
    CHECK(fake.checkpoints == 1);
    CHECK(fake.stopped == 1);

    const TemporaryFolder folder;
    Series series(folder.path() / "series.csv", "s", {{"mass", "kg"}});
    for (int step = 1; step <= 5; ++step) series.append(step, step, std::vector<double>{0.5 * step});
    fake.run.series = &series;
    const JsonValue rows = ask(R"({"get":"series","last":2})");
    CHECK(rows.member("columns").items().at(0).member("unit").string() == "kg");
    REQUIRE(rows.member("rows").items().size() == 2);
    CHECK(rows.member("rows").items()[1].member("values").items().at(0).number() == 2.5);
}

TEST_CASE("a request that cannot be granted changes nothing and says why") {
    Fake fake;
    const auto refused = [&](const std::string& line, const std::string& part) {
        INFO(line);
        const std::string text = answer(line, fake.run);
        CHECK_FALSE(JsonValue::parse(text, "answer").member("ok").boolean());
        CHECK(has(text, part));
    };
    refused(R"({"set":{"cfl":1.5}})", "0.1 to 0.9");
    refused(R"({"set":{"cfl":0.3,"none":1}})", "no such parameter");
    refused(R"({"set":{"cfl":"much"}})", "a number was expected");
    refused(R"({"set":{"cfl":1e999}})", "a number is beyond those of 64 bits");
    refused(R"({"set":{}})", "nothing is to be changed");
    refused(R"({"set":3})", "an object was expected");
    refused(R"({"get":"weather"})", "no such request");
    refused(R"({"do":"explode"})", "no such request");
    refused(R"({"get":"series"})", "no time series");
    refused("[1,2]", "a request is an object");
    refused("hello", "not JSON");
    refused(std::string(5000, '['), "too deep");
    refused("{}", "no such request");
    CHECK(fake.cfl == 0.5);
    fake.run.stop = nullptr;
    refused(R"({"do":"stop"})", "this run has no 'stop'");
}

TEST_CASE("clients are answered between steps, also through a path that is long for a socket") {
    const TemporaryFolder top;
    const fs::path folder = top.path() / std::string(100, 'x') / std::string(100, 'y');
    fs::create_directories(folder);
    Fake fake;
    {
        Control control(folder);
        struct stat facts {};
        REQUIRE(::stat((folder / "control").c_str(), &facts) == 0);
        CHECK((facts.st_mode & 0777) == 0700);
        const Client one(folder), two(folder);
        one.send("{\"get\":\"status\"}\n{\"set\":{\"cfl\":0.2}}\n{\"get\":");
        control.poll(fake.run, 0);
        const std::string got = one.receive();
        CHECK(std::count(got.begin(), got.end(), '\n') == 2);
        CHECK(fake.cfl == 0.2);
        one.send("\"parameters\"}\n");
        two.send("{\"do\":\"stop\"}\n");
        control.poll(fake.run, 0.01);  // too soon to ask the system again
        CHECK(one.receive().empty());
        control.poll(fake.run, 0.1);
        CHECK(has(one.receive(), "Courant"));
        CHECK(has(two.receive(), "after_step"));
    }
    CHECK(fs::is_empty(folder));
}

TEST_CASE("another user who comes to the socket, by whatever way, is not heard") {
    if (::geteuid() != 0) CANNOT_TRY("only root can act as another user");
    constexpr int nobody = 65534;
    const TemporaryFolder top;
    Fake fake;
    Control control(top.path());
    const fs::path folder = top.path() / "control", path = folder / "control.sock";
    REQUIRE(::chmod(folder.c_str(), 0711) == 0);
    REQUIRE(::chmod(path.c_str(), 0666) == 0);
    const int place = ::open(folder.c_str(), O_PATH | O_DIRECTORY);
    const pid_t other = ::fork();
    if (other == 0) {
        if (::setresuid(nobody, nobody, nobody) != 0) ::_exit(2);
        const int file = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/control.sock", place);
        if (::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) ::_exit(3);
        const std::string order = "{\"do\":\"stop\"}\n";
        static_cast<void>(::send(file, order.data(), order.size(), MSG_NOSIGNAL));
        char c = 0;
        ::_exit(::recv(file, &c, 1, 0) > 0 ? 1 : 0);
    }
    int status = -1;
    for (double now = 0; ::waitpid(other, &status, WNOHANG) == 0; now += 1) {
        control.poll(fake.run, now);
        ::usleep(2000);
    }
    CHECK(status == 0);
    CHECK(fake.stopped == 0);
    ::close(place);
}

TEST_CASE("clients that vanish, talk nonsense or never read do no harm") {
    const TemporaryFolder folder;
    Fake fake;
    Control control(folder.path());
    double now = 0;
    const auto poll = [&] { control.poll(fake.run, now += 1); };
    {
        const Client gone(folder.path());
        gone.send("{\"get\":\"status\"}\n");
    }
    {
        const Client half(folder.path());
        half.send("{\"get\":");
    }
    for (int i = 0; i < 3; ++i) poll();
    const Client endless(folder.path());
    for (int i = 0; i < 40 && !endless.closed(); ++i) {
        ::send(endless.file(), std::string(4000, 'x').data(), 4000, MSG_NOSIGNAL | MSG_DONTWAIT);
        poll();
    }
    CHECK(endless.closed());
    const Client deaf(folder.path());
    std::string many;
    for (int i = 0; i < 400; ++i) many += "{\"get\":\"parameters\"}\n";
    bool dropped = false;
    for (int i = 0; i < 5000 && !dropped; ++i) {
        dropped =
            ::send(deaf.file(), many.data(), many.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE;
        poll();
    }
    CHECK(dropped);
    // More clients than there are places: the others get theirs when these have gone.
    std::vector<std::unique_ptr<Client>> crowd;
    for (int i = 0; i < 24; ++i) {
        crowd.push_back(std::make_unique<Client>(folder.path()));
        poll();  // more than the system keeps waiting would wait in connect()
    }
    crowd.erase(crowd.begin(), crowd.begin() + 20);
    crowd.back()->send("{\"get\":\"status\"}\n");
    poll(), poll(), poll();
    CHECK(has(crowd.back()->receive(), "\"ok\":true"));
}

TEST_CASE("callers that say nothing keep no other from being heard for longer than a second") {
    const TemporaryFolder folder;
    Fake fake;
    Control control(folder.path());
    double now = 0;
    std::vector<std::unique_ptr<Client>> silent;
    for (int i = 0; i < 17; ++i) {
        silent.push_back(std::make_unique<Client>(folder.path()));
        control.poll(fake.run, now += 0.06);
    }
    const Client one(folder.path());
    one.send("{\"get\":\"status\"}\n");
    control.poll(fake.run, now = 0.95);
    CHECK(one.receive().empty());
    control.poll(fake.run, now = 1.2);  // one of those in front of it goes for the last of the silent
    control.poll(fake.run, now = 1.3);
    control.poll(fake.run, now = 1.4);
    CHECK(has(one.receive(), "\"ok\":true"));
    CHECK(silent.front()->closed());
}

TEST_CASE("whoever asks during a long step is answered, also where others wait to come in") {
    const TemporaryFolder folder;
    Fake fake;
    Control control(folder.path());
    double now = 0;
    std::vector<std::unique_ptr<Client>> all;
    for (int i = 0; i < 16; ++i) {
        all.push_back(std::make_unique<Client>(folder.path()));
        control.poll(fake.run, now += 0.06);
    }
    all.front()->send("{\"get\":\"status\"}\n");  // the longest silent of them, until now
    const Client other(folder.path());
    other.send("{\"get\":\"status\"}\n");
    control.poll(fake.run, now + 10);
    CHECK(has(all.front()->receive(), "\"ok\":true"));
    CHECK(has(other.receive(), "\"ok\":true"));
    CHECK(all[1]->closed());
}

TEST_CASE("a folder in use is refused, and one that a killed run left is taken over") {
    const TemporaryFolder folder;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const Control control(folder.path());
        (void)!::write(ready[1], "x", 1);
        for (;;) ::pause();
    }
    char c;
    REQUIRE(::read(ready[0], &c, 1) == 1);
    CHECK(has(refusal([&] { Control control(folder.path()); }), "another run is using this results folder"));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]), ::close(ready[1]);
    REQUIRE(fs::exists(folder.path() / "control" / "control.sock"));
    Fake fake;
    Control control(folder.path());
    const Client client(folder.path());
    client.send("{\"get\":\"status\"}\n");
    control.poll(fake.run, 0);
    CHECK(has(client.receive(), "\"ok\":true"));
}
