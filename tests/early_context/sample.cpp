// Waits for the end of its input and prints what it finds in $CALLS: a thread that loads a library
// too soon makes the process lose its environment.

#include <cstdio>
#include <cstdlib>

int main() {
  while (std::getchar() != EOF) {
  }
  const char* calls = std::getenv("CALLS");
  std::printf("%s", calls != nullptr ? calls : "no environment");
  return 0;
}
