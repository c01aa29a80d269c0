# The short way to everything. The build itself is CMake's; this file installs
# what is missing, configures once and calls it. "make help" lists the targets.
#
#   PRESET=dev make test            another preset of CMakePresets.json
#   CMAKE_PREFIX_PATH=... make ...  another LibTorch (see cmake/ProcaDependencies.cmake)
#   PROCA_NO_APT=1 make ...         install nothing, say what is missing

PRESET ?= release
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 600
ifndef JOBS
# All cores, but no more jobs than memory allows: a source file that includes
# LibTorch takes up to 1.5 GB.
JOBS := $(shell awk -v cores=$$(nproc) '/^MemAvailable/ {jobs = int($$2 / 1500000)} \
  END {print (jobs < 1 || jobs > cores) ? cores : jobs}' /proc/meminfo 2>/dev/null || nproc)
endif

folder := build/$(PRESET)
program := $(folder)/apps/proca/proca
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help build demo bench check test fuzz sanitize install docs package format tidy

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s%s\n", $$1, $$2}' Makefile

build: ## build the program and the library
	@tools/dependencies.sh build
	@tools/configure.sh $(PRESET)
	@cmake --build $(folder) --target proca_program

demo: build ## draw a small data set, train on sketches, adapt to photos step by step
	$(program) demo --out out/demo

bench: build ## measure decoding, training, adaptation and prediction on this machine
	$(program) bench --quiet
	$(program) bench iteration --iterations 2 --repeats 3 --quiet

check: ## build the program and the fast tests and run them: before each commit
	@tools/dependencies.sh test
	@tools/configure.sh $(PRESET) tests
	@cmake --build $(folder) --target fast_tests
	@ctest --test-dir $(folder) --output-on-failure -j $(JOBS) -L fast

test: ## build and run every test
	@tools/dependencies.sh test
	@tools/configure.sh $(PRESET) tests
	@cmake --build $(folder)
	@ctest --test-dir $(folder) --output-on-failure -j $(JOBS)

fuzz: ## feed every reader of files with mutations, FUZZ_SECONDS (600) each
	@tools/dependencies.sh test
	@tests/fuzz/check.sh build/fuzz $(FUZZ_SECONDS)

sanitize: ## run the tests under the sanitizers, those of the readers under valgrind, too
	@tools/dependencies.sh sanitize
	@tools/sanitize.sh

install: build ## install the program, the library and its headers (PREFIX, DESTDIR)
	@DESTDIR="$(DESTDIR)" cmake --install $(folder) --prefix "$(PREFIX)"

docs: build ## build the documentation, a searchable site, in build/docs
	@tools/dependencies.sh docs
	@tools/docs.sh $(program) build/docs
	@tools/check_links.py build/docs

package: build ## make the Debian packages proca and libproca-dev in build/packages
	@tools/dependencies.sh package
	@test -e $(folder)/CPackConfig.cmake || \
	  { echo "make package: needs Debian's LibTorch; this build has another one" >&2; exit 2; }
	@cpack --config $(folder)/CPackConfig.cmake -B build/packages
	@rm -rf build/packages/_CPack_Packages
	@tools/check_package_files.sh build/packages/*.deb

format: ## format the C++ files in place
	@tools/dependencies.sh format
	@tools/format.sh --in-place

tidy: ## run clang-tidy over the files that differ from main (ALL=1: over all)
	@tools/dependencies.sh tidy
	@tools/configure.sh $(PRESET)
	@tools/tidy.sh $(folder) $(if $(ALL),all,changed)
