#include <iostream>

#include <proca/core/error.h>
#include <proca/core/file.h>
#include <proca/core/random.h>

// Draws a reproducible order of five images, and shows what a mistake looks like.
int main() {
  proca::RandomStream random(/*seed=*/0, "example");
  std::cout << "order:";
  for (const int64_t index : proca::random_permutation(5, random)) std::cout << ' ' << index;
  std::cout << '\n';

  try {
    proca::read_text_file("no/such/list.txt");
  } catch (const proca::InputError& error) {
    std::cout << "refused: " << error.what() << '\n';
  }
}
