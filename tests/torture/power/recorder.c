/*
 * Notes what a process asks of the disk, in the order in which it happens; for tests/torture/power.rs, which builds and
 * preloads it.
 *
 * TORTURE_FOLDER is the folder that is watched, TORTURE_LOG the file to write, TORTURE_DAYS by how many days the clock is
 * wrong. A call that changes something runs under
 * one lock together with its record, so the order of the records is that of the changes. A sync runs outside of it: its
 * record follows when it is done, and says how long the log was when it began.
 *
 * A record is four numbers of 8 bytes (kind, inode, number, length) and so many bytes:
 *   w  write: the offset; the bytes          c  a name made for a file: -; the name
 *   t  truncate: the new length              l  a second name: -; both, with a zero byte between them
 *   s  sync: length of the log at its begin  r  rename: -; both, likewise
 *                                            u  unlink: -; the name
 *
 * One call can be made to fail. Which, stands in the file TORTURE_LOG-fault; calls count from when that is there: a kind
 * (w, s, t, o: open, n: rename, link or unlink), a number, an error (-1: the process is killed at it, 0: none), and
 * whether half of the write is done before. A write that was done by half returns so, and the error is the next one's.
 * TORTURE_LOG-met holds how many calls of the kind there were.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static int log_file = -1;
static dev_t device;
static uint64_t logged;
static long seconds_off;
static char fault_path[PATH_MAX];
static int met_file = -1;
static int64_t met;
static struct {
    char kind;
    long number;
    int error, is_half;
} fault;

__attribute__((constructor)) static void begin(void) {
    struct stat state;
    const char *path = getenv("TORTURE_LOG");
    folder = getenv("TORTURE_FOLDER");
    if (path == NULL || folder == NULL || stat(folder, &state) != 0) abort();
    device = state.st_dev;
    seconds_off = 24 * 60 * 60 * atol(getenv("TORTURE_DAYS") ? getenv("TORTURE_DAYS") : "0");
    log_file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_file < 0) abort();
    logged = (uint64_t)lseek64(log_file, 0, SEEK_END);
    char met_path[PATH_MAX];
    snprintf(fault_path, sizeof fault_path, "%s-fault", path);
    snprintf(met_path, sizeof met_path, "%s-met", path);
    met_file = REAL(open)(met_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

enum { KILLED = -1, HALF = -2 };

static void die(void) {
    kill(getpid(), SIGKILL);
    pause();
}

/* What becomes of a call of a kind: 0: it is done, HALF: half of it, or the error that it has. */
static int fate(char kind) {
    static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
    FILE *file;
    int becomes = 0;
    pthread_mutex_lock(&counting);
    if (!fault.kind && (file = fopen(fault_path, "r")) != NULL) {
        if (fscanf(file, "%c %ld %d %d", &fault.kind, &fault.number, &fault.error, &fault.is_half) != 4) fault.kind = 0;
        fclose(file);
    }
    if (fault.kind == kind) {
        met++;
        if (REAL(pwrite64)(met_file, &met, sizeof met, 0) != sizeof met) abort();
        if (met == fault.number) becomes = fault.is_half ? HALF : fault.error;
        if (met == fault.number + 1 && fault.is_half) becomes = fault.error;
    }
    pthread_mutex_unlock(&counting);
    if (becomes == KILLED) die();
    return becomes;
}

/* Returns from a call with its error, if it has one. */
#define FATE(kind)                          \
    int becomes = fate(kind);               \
    if (becomes > 0) {                      \
        errno = becomes;                    \
        return -1;                          \
    }

static void note(char kind, uint64_t inode, uint64_t number, const void *bytes, size_t length) {
    uint64_t head[4] = {(uint64_t)kind, inode, number, length};
    struct iovec parts[2] = {{head, sizeof head}, {(void *)bytes, length}};
    ssize_t written = REAL(writev)(log_file, parts, 2);
    if (written != (ssize_t)(sizeof head + length)) abort();
    logged += (uint64_t)written;
}

/* The inode of an open file of the watched disk; 0: something else. */
static uint64_t inode_of(int file) {
    struct stat state;
    if (file == log_file || fstat(file, &state) != 0 || state.st_dev != device) return 0;
    return S_ISREG(state.st_mode) || S_ISDIR(state.st_mode) ? state.st_ino : 0;
}

/* The name below the watched folder; 0: it lies elsewhere. */
static int name_of(const char *path, char name[PATH_MAX]) {
    char parent[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = strlen(folder);
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (realpath(parent, real) == NULL || strncmp(real, folder, length) != 0) return 0;
    if (real[length] != 0 && real[length] != '/') return 0;
    const char *below = real[length] ? real + length + 1 : "";
    return snprintf(name, PATH_MAX, "%s%s%s", below, *below ? "/" : "", slash ? slash + 1 : path) < PATH_MAX;
}

static int opened(int (*really)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    char name[PATH_MAX];
    if (name_of(path, name)) {
        FATE('o')
    }
    if (!(flags & (O_CREAT | O_TRUNC))) return really(path, flags, mode);
    pthread_mutex_lock(&lock);
    int file = really(path, flags, mode), error = errno;
    uint64_t inode = file < 0 ? 0 : inode_of(file);
    if (inode && name_of(path, name)) {
        note('c', inode, 0, name, strlen(name));
        if (flags & O_TRUNC) note('t', inode, 0, "", 0);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return file;
}

#define OPEN(name)                                       \
    int name(const char *path, int flags, ...) {         \
        va_list more;                                    \
        va_start(more, flags);                           \
        mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0; \
        va_end(more);                                    \
        return opened(REAL(name), path, flags, mode);    \
    }
OPEN(open)
OPEN(open64)

static ssize_t wrote(int file, const struct iovec *parts, int count, off64_t at) {
    uint64_t inode = inode_of(file);
    if (!inode) return at < 0 ? REAL(writev)(file, parts, count) : REAL(pwritev64)(file, parts, count, at);
    FATE('w')
    struct iovec half = {parts[0].iov_base, parts[0].iov_len - parts[0].iov_len / 2};
    if (becomes == HALF) parts = &half, count = 1;
    pthread_mutex_lock(&lock);
    ssize_t written = at < 0 ? REAL(writev)(file, parts, count) : REAL(pwritev64)(file, parts, count, at);
    int error = errno;
    uint64_t offset = (uint64_t)(at < 0 ? lseek64(file, 0, SEEK_CUR) - written : at);
    ssize_t left = written;
    for (int part = 0; part < count && left > 0; part++) {
        size_t length = parts[part].iov_len < (size_t)left ? parts[part].iov_len : (size_t)left;
        note('w', inode, offset, parts[part].iov_base, length);
        offset += length;
        left -= (ssize_t)length;
    }
    pthread_mutex_unlock(&lock);
    if (becomes == HALF && fault.error == KILLED) die();
    errno = error;
    return written;
}

ssize_t write(int file, const void *bytes, size_t length) {
    struct iovec part = {(void *)bytes, length};
    return wrote(file, &part, 1, -1);
}
ssize_t writev(int file, const struct iovec *parts, int count) { return wrote(file, parts, count, -1); }
ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    struct iovec part = {(void *)bytes, length};
    return wrote(file, &part, 1, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
    struct iovec part = {(void *)bytes, length};
    return wrote(file, &part, 1, at);
}

int ftruncate64(int file, off64_t length) {
    FATE('t')
    pthread_mutex_lock(&lock);
    int result = REAL(ftruncate64)(file, length), error = errno;
    if (result == 0) note('t', inode_of(file), (uint64_t)length, "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

static int synced(int (*really)(int), int file) {
    FATE('s')
    pthread_mutex_lock(&lock);
    uint64_t before = logged;
    pthread_mutex_unlock(&lock);
    int result = really(file), error = errno;
    pthread_mutex_lock(&lock);
    if (result == 0) note('s', inode_of(file), before, "", 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
int fsync(int file) { return synced(REAL(fsync), file); }
int fdatasync(int file) { return synced(REAL(fdatasync), file); }

/* Runs a call that changes one name or two, and notes it. */
#define NAMING(kind, from, to, call)                                                         \
    FATE('n')                                                                                \
    char names[2 * PATH_MAX], second[PATH_MAX];                                              \
    pthread_mutex_lock(&lock);                                                               \
    int known = name_of(from, names) && name_of(to, second);                                 \
    int result = call, error = errno;                                                        \
    if (result == 0 && known) {                                                              \
        size_t length = strlen(names);                                                       \
        if (kind != 'u') strcpy(names + length + 1, second), length += 1 + strlen(second);   \
        note(kind, 0, 0, names, length);                                                     \
    }                                                                                        \
    pthread_mutex_unlock(&lock);                                                             \
    errno = error;                                                                           \
    return result;

int rename(const char *from, const char *to) { NAMING('r', from, to, REAL(rename)(from, to)) }
int link(const char *from, const char *to) { NAMING('l', from, to, REAL(link)(from, to)) }
int unlink(const char *path) { NAMING('u', path, path, REAL(unlink)(path)) }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    NAMING('l', from, to, REAL(linkat)(a, from, b, to, flags))
}

/* Copies that no buffer goes through: who asks for one falls back to reading and writing. */
ssize_t copy_file_range(int a, off64_t *b, int c, off64_t *d, size_t e, unsigned f) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    errno = ENOSYS;
    return -1;
}
ssize_t sendfile64(int a, int b, off64_t *c, size_t d) {
    (void)a, (void)b, (void)c, (void)d;
    errno = ENOSYS;
    return -1;
}
ssize_t sendfile(int a, int b, off_t *c, size_t d) { return sendfile64(a, b, c, d); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = REAL(clock_gettime)(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += seconds_off;
    return result;
}
