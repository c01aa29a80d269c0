// A library to put in front of the program with LD_PRELOAD. It counts the calls that change
// files below a folder and lets one of them fail, or ends the process in the middle of it.
//
//   PROCA_FAULT_FOLDER  absolute path; only what is below it, or is it, counts
//   PROCA_FAULT_CALL    set: only calls of this function count (`rename`)
//   PROCA_FAULT_FILE    set: only files whose path ends with this count, such as
//                       `/events.jsonl`; a `.tmp-PID` behind it is ignored
//   PROCA_FAULT_AT      number of the call, from 1
//   PROCA_FAULT_KIND    eio    this call fails
//                       enospc this call and all that need space from then on fail
//                       eperm  this call and all from then on are not permitted
//                       short  this call writes half of the bytes and returns that number
//                       kill   half of the bytes are written, then SIGKILL
//                       int    SIGINT, then the call is made
//                       stop   SIGSTOP, and when the process goes on, the call is made
//                       hang   this call never returns
//                       int-hang, term-hang     one signal, and the call never returns
//                       int-int-hang, ...       two of them
//   PROCA_FAULT_LOG     file that gets a line per call: what was called, and for which file
//   PROCA_NO_SYNC       set: fsync counts but does nothing, as a kill does not empty caches
//   PROCA_CLOCK_JUMPS   set: the time of day goes back and forth by years from call to call

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

// What a call needs, and thus how it may fail.
enum class Need { kNothing, kSpace };

// The next definition of a function: the C library's.
template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_below(const char* path) {
  static const char* const folder = std::getenv("PROCA_FAULT_FOLDER");
  if (folder == nullptr || path == nullptr) return false;
  const size_t length = std::strlen(folder);
  return std::strncmp(path, folder, length) == 0;
}

bool counts(const char* call, const char* path) {
  static const char* const only_call = std::getenv("PROCA_FAULT_CALL");
  static const char* const only_file = std::getenv("PROCA_FAULT_FILE");
  if (!is_below(path)) return false;
  if (only_call != nullptr && std::strcmp(only_call, call) != 0) return false;
  if (only_file == nullptr) return true;
  // A file that replaces another when it is complete is written as NAME.tmp-PID.
  const char* const temporary = std::strstr(path, ".tmp-");
  const size_t whole =
      temporary != nullptr ? static_cast<size_t>(temporary - path) : std::strlen(path);
  const size_t length = std::strlen(only_file);
  return whole >= length && std::strncmp(path + whole - length, only_file, length) == 0;
}

// The name of an open file; empty for pipes and the like.
struct Name {
  char text[4096] = "";
  explicit Name(int descriptor) {
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
  }
};

// Straight to the kernel, as our own `write` would count it.
void log_call(long number, const char* call, const char* path) {
  static const char* const file = std::getenv("PROCA_FAULT_LOG");
  if (file == nullptr) return;
  char line[4400];
  const int length = std::snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
  const long log = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT, 0644);
  syscall(SYS_write, log, line, length);
  syscall(SYS_close, log);
}

// Sends the signals of `int-term-hang` to this thread, one after the other.
[[noreturn]] void signal_and_hang(const char* kind) {
  for (; std::strcmp(kind, "hang") != 0; kind = std::strchr(kind, '-') + 1) {
    raise(*kind == 'i' ? SIGINT : SIGTERM);
  }
  for (;;) pause();
}

enum class Fault { kNone, kError, kShort, kKill };

// Counts a call and decides its outcome; sets errno.
Fault fault_of(const char* call, const char* path, Need need) {
  static std::atomic<long> calls{0};
  static const char* const at_text = std::getenv("PROCA_FAULT_AT");
  static const char* const kind_text = std::getenv("PROCA_FAULT_KIND");
  static const long at = at_text == nullptr ? 0 : std::atol(at_text);
  static const char* const kind = kind_text == nullptr ? "" : kind_text;
  if (!counts(call, path)) return Fault::kNone;
  const long number = ++calls;
  log_call(number, call, path);
  if (at == 0 || number < at) return Fault::kNone;
  if (std::strcmp(kind, "enospc") == 0) {
    if (need != Need::kSpace) return Fault::kNone;
    errno = ENOSPC;
    return Fault::kError;
  }
  if (number != at && std::strcmp(kind, "eperm") != 0) return Fault::kNone;
  if (std::strcmp(kind, "short") == 0) return Fault::kShort;
  if (std::strcmp(kind, "kill") == 0) return Fault::kKill;
  const size_t length = std::strlen(kind);
  if (length >= 4 && std::strcmp(kind + length - 4, "hang") == 0) signal_and_hang(kind);
  if (std::strcmp(kind, "int") == 0 || std::strcmp(kind, "stop") == 0) {
    kill(getpid(), *kind == 'i' ? SIGINT : SIGSTOP);
    return Fault::kNone;
  }
  errno = std::strcmp(kind, "eperm") == 0 ? EPERM : EIO;
  return Fault::kError;
}

[[noreturn]] void die() {
  raise(SIGKILL);
  std::abort();
}

// For calls that are done or not, without anything in between.
bool fails(const char* call, const char* path, Need need) {
  const auto fault = fault_of(call, path, need);
  if (fault == Fault::kKill) die();
  return fault == Fault::kError;
}

template <typename Write>
ssize_t write_part(const char* call, int descriptor, size_t size, const Write& write) {
  const Name name(descriptor);
  switch (fault_of(call, name.text, Need::kSpace)) {
    case Fault::kError:
      return -1;
    case Fault::kShort:
      return write(size > 1 ? size / 2 : size);
    case Fault::kKill:
      write(size / 2);
      die();
    case Fault::kNone:
      break;
  }
  return write(size);
}

int open_file(const char* path, int flags, unsigned mode) {
  using Open = int(const char*, int, ...);
  static Open* const next = real<Open>("open");
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  if (writes && fails("open", path, (flags & O_CREAT) != 0 ? Need::kSpace : Need::kNothing)) {
    return -1;
  }
  return next(path, flags, mode);
}

unsigned mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0;
}

// Ten years back, twenty forward, ten back, ...
time_t jumped(time_t seconds) {
  static const bool jumps = std::getenv("PROCA_CLOCK_JUMPS") != nullptr;
  static std::atomic<int> calls{0};
  constexpr time_t kYears = 10 * 365 * 24 * 3600;
  if (!jumps) return seconds;
  return calls++ % 2 == 0 ? seconds - kYears : seconds + kYears;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_file(path, flags, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  using Write = ssize_t(int, const void*, size_t);
  static Write* const next = real<Write>("write");
  return write_part("write", descriptor, size,
                    [&](size_t part) { return next(descriptor, bytes, part); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  using Write = ssize_t(int, const void*, size_t, off_t);
  static Write* const next = real<Write>("pwrite");
  return write_part("pwrite", descriptor, size,
                    [&](size_t part) { return next(descriptor, bytes, part, offset); });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
  static auto* const next = real<int(int)>("fsync");
  static const bool syncs = std::getenv("PROCA_NO_SYNC") == nullptr;
  if (fails("fsync", Name(descriptor).text, Need::kSpace)) return -1;
  return syncs ? next(descriptor) : 0;
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const next = real<int(int, off_t)>("ftruncate");
  return fails("ftruncate", Name(descriptor).text, Need::kNothing) ? -1 : next(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) noexcept { return ftruncate(descriptor, size); }

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return fails("rename", to, Need::kNothing) ? -1 : next(from, to);
}

int unlink(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("unlink");
  return fails("unlink", path, Need::kNothing) ? -1 : next(path);
}

int linkat(int, const char* from, int, const char* to, int) noexcept {
  // Paths of the program are absolute or relative to its folder, and links are followed.
  static auto* const next = real<int(int, const char*, int, const char*, int)>("linkat");
  if (fails("linkat", to, Need::kSpace)) return -1;
  return next(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

int rmdir(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("rmdir");
  return fails("rmdir", path, Need::kNothing) ? -1 : next(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return fails("mkdir", path, Need::kSpace) ? -1 : next(path, mode);
}

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static auto* const next = real<int(clockid_t, timespec*)>("clock_gettime");
  const int result = next(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec = jumped(now->tv_sec);
  return result;
}

time_t time(time_t* place) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (place != nullptr) *place = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* now, void*) noexcept {
  timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

}  // extern "C"
