// Starts a bundle on each node and carries its votes to the other nodes over MPI, so that all nodes
// measure at the same time (Staelin: lmbench3, section 3).
//
//     together BUNDLE FOLDER FLEET JOB SEED [OPTION...]
//
// Rank 0 is the first node; its clock is the common one.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <string>
#include <vector>

#include "../yamba/meeting.h"

namespace {

using namespace yamba::meeting;

int rank = 0, nodes = 1;

// The clock of a program's load records.
double now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

struct Offset {
    double ns = 0, error_ns = 0;
};

constexpr int trips = 50;

// Rank 0 answers each message of a node with its own time.
void answer(int node) {
    for (int i = 0; i < trips; i++) {
        double theirs;
        MPI_Recv(&theirs, 1, MPI_DOUBLE, node, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double own = now_ns();
        MPI_Send(&own, 1, MPI_DOUBLE, node, 0, MPI_COMM_WORLD);
    }
}

// The offset by the shortest of many round trips. The other clock was read within it, so half of it
// bounds the error.
Offset ask() {
    Offset best;
    for (int i = 0; i < trips; i++) {
        double before = now_ns(), theirs;
        MPI_Send(&before, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double after = now_ns(), half = (after - before) / 2;
        if (i == 0 || half < best.error_ns) best = {theirs - (before + half), half};
    }
    return best;
}

// Each node compares its clock with that of rank 0, one after the other.
Offset compare_clocks() {
    if (rank != 0) return ask();
    for (int node = 1; node < nodes; node++) answer(node);
    return {};
}

struct Tally {
    uint64_t least_kind, most_kind, least, most;
};

Tally vote(const Vote &own) {
    uint64_t least[2] = {own.kind, own.value}, most[2] = {own.kind, own.value};
    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return {least[0], most[0], least[1], most[1]};
}

// Votes until no node has a smaller kind. Returns whether all agree.
bool agree(const Vote &own, Tally &tally) {
    do tally = vote(own);
    while (tally.least_kind < own.kind);
    return tally.most_kind == own.kind && tally.least == tally.most && own.value != 0;
}

// Carries the votes of the bundle until it closes its socket. A node whose bundle has ended votes
// until all have.
void serve(int socket) {
    Vote own;
    Tally tally;
    Offset offset;
    while (read_whole(socket, own)) {
        const bool agreed = agree(own, tally);
        // No node has a smaller kind now. If none has a larger one either, all nodes compare
        // clocks; otherwise none does.
        if (own.kind != stretch && tally.most_kind == own.kind) offset = compare_clocks();
        // A run that goes on without another one must know.
        const uint64_t kind = own.kind != stretch && tally.most_kind == gone ? uint64_t(gone) : own.kind;
        if (!write_whole(socket, Answer{kind, agreed ? uint64_t(1) : 0, offset.ns, offset.error_ns})) break;
    }
    agree(Vote{gone, 0}, tally);
}

[[noreturn]] void become_bundle(const char *bundle, std::vector<std::string> arguments) {
    std::vector<char *> words = {const_cast<char *>(bundle)};
    for (std::string &argument : arguments) words.push_back(&argument[0]);
    words.push_back(nullptr);
    execv(bundle, words.data());
    perror(bundle);
    _exit(127);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 6) return fprintf(stderr, "usage: together BUNDLE FOLDER FLEET JOB SEED [OPTION...]\n"), 2;
    // The bundle starts before MPI does, which does not like processes that fork later.
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0) return perror("socketpair"), 1;
    const pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        int number = -1;
        if (!read_whole(sockets[1], number)) _exit(127);
        const std::string place = std::to_string(number);
        std::vector<std::string> arguments = {"--fleet", argv[3], "--job",      argv[4],
                                              "--rank",  place,   "--into",     std::string(argv[2]) + "/" + place + ".json",
                                              "--seed",  argv[5], "--together", std::to_string(sockets[1])};
        arguments.insert(arguments.end(), argv + 6, argv + argc);
        become_bundle(argv[1], arguments);
    }
    close(sockets[1]);
    signal(SIGPIPE, SIG_IGN);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nodes);
    if (write_whole(sockets[0], rank)) serve(sockets[0]);
    int status = 0;
    waitpid(child, &status, 0);
    MPI_Finalize();
    return 0;
}
