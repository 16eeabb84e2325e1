# gputier. `make demo` and `make check` do all the set-up on a fresh Debian 12; `make help` lists the rest.
PREFIX ?= /usr/local
DESTDIR ?=
O ?= build
CC ?= gcc
CFLAGS ?= -O2 -g
WERROR ?=
SAN ?=
# make V=1 shows the commands
V ?=
Q = $(if $(V),,@echo '  $@';)

BUILD_PKGS = gcc make pkg-config libcurl4-openssl-dev libsqlite3-dev libncurses-dev libcjson-dev \
  libyaml-dev libzstd-dev libisal-dev libutf8proc-dev libexpat1-dev
TEST_PKGS = libcmocka-dev libvterm-dev zlib1g-dev python3 pocl-opencl-icd ocl-icd-libopencl1 tmux zstd locales bc \
  glpk-utils coinor-cbc b3sum libyajl-dev libcsv-dev libpq-dev # solvers, a hash and readers that ours are compared with; a client
ENGINE_PKGS = postgresql clickhouse-server python3-sqlglot # that `inventory sql` is run in or read by
BENCH_PKGS = libyajl-dev libcsv-dev rapidjson-dev g++ htop bc mawk python3 pocl-opencl-icd # peers that the figures are compared with
LINT_PKGS = clang clang-format clang-tidy cppcheck shellcheck codespell libclang-rt-14-dev

PKGS = libcurl sqlite3 ncursesw libcjson yaml-0.1 libzstd libisal libutf8proc expat
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
# libcurl is loaded when first needed (pricing/http/curl_api.c): linked, it costs every start 14 ms.
PKG_LIBS := $(shell pkg-config --libs $(filter-out libcurl,$(PKGS)) 2>/dev/null) -lm -ldl -lpthread

# Only its header is needed at build, for `inventory sql --run` in PostgreSQL; without it that one is left out.
LIBPQ := $(shell pkg-config --cflags libpq 2>/dev/null && echo -DGT_LIBPQ)

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion \
  -Wformat=2 -Wundef -Wvla -Wcast-qual -Wcast-align -Wpointer-arith -Wstrict-prototypes \
  -Wmissing-prototypes -Wold-style-definition -Wwrite-strings -Wimplicit-fallthrough -fno-common
GT_CFLAGS = -std=c17 -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE -Iinclude \
  $(PKG_CFLAGS) $(WARN) $(WERROR) $(SAN) $(CFLAGS)
GT_LDFLAGS = -pie -Wl,-z,relro,-z,now $(SAN) $(LDFLAGS)
ifneq ($(SAN),)
GT_CFLAGS := $(subst -D_FORTIFY_SOURCE=2,,$(GT_CFLAGS))
endif

SRC := $(sort $(wildcard planner/*/*.c pricing/*/*.c tui/*/*.c))
OBJ := $(SRC:%.c=$(O)/%.o)
UNIT_SRC := $(sort $(wildcard tests/unit/*.c))
UNIT := $(UNIT_SRC:%.c=$(O)/%)

all: gputier

gputier: $(O)/gputier
	cp -f $< $@.tmp && mv -f $@.tmp $@

$(O)/gputier: $(O)/tui/main.o $(O)/libgputier.a
	$(Q)$(CC) $(GT_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# One archive: a test links only the members that it uses.
$(O)/libgputier.a: $(OBJ)
	@rm -f $@
	@ar rcsP $@ $^

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(GT_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libgputier.a
	$(Q)$(CC) $(GT_LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcmocka -lvterm -lutil $(PEERS) $(PKG_LIBS)
# A driver without a GPU, for the tests of the CUDA back end.
$(O)/tests/support/libcuda.so.1: tests/support/libcuda.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O2 -g -Wall -Wextra $(WERROR) -shared -fPIC -o $@ $< -lm
# Its management library, today's and one with the names of ten years ago.
$(O)/tests/support/libnvidia-ml.so.1: NVML =
$(O)/tests/support/old/libnvidia-ml.so.1: NVML = -DOLD
$(O)/tests/support/libnvidia-ml.so.1 $(O)/tests/support/old/libnvidia-ml.so.1: tests/support/libnvml.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O2 -g -Wall -Wextra $(WERROR) $(NVML) -shared -fPIC -o $@ $<
NO_GPU := $(addprefix $(O)/tests/support/,libcuda.so.1 libnvidia-ml.so.1 old/libnvidia-ml.so.1)
$(O)/tests/unit/bench_cuda $(O)/tests/unit/bench_nvml: | $(NO_GPU)
$(O)/tests/unit/src_peers: PEERS = -lyajl -lcsv
$(O)/tests/unit/src_inflate $(O)/tests/unit/src_feeds: PEERS = -lz

# SQL files are byte arrays inside schema.o, the GPU kernels' texts inside kernels.o.
SQL_H := $(patsubst %.sql,$(O)/%.sql.h,$(sort $(wildcard pricing/store/*.sql)))
KERNEL_H := $(patsubst %,$(O)/%.h,planner/bench/kernels.cl $(sort $(wildcard planner/bench/ptx/*.ptx)))
$(SQL_H) $(KERNEL_H): $(O)/%.h: %
	@mkdir -p $(@D)
	od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g' > $@
$(O)/pricing/store/schema.o: $(SQL_H)
$(O)/planner/bench/kernels.o: $(KERNEL_H)
# The loops that are measured: gcc vectorises hardly any at -O2.
$(O)/planner/bench/cpu.o: GT_CFLAGS += $(LOOPS)
LOOPS := -O3 -ffp-contract=fast
$(O)/pricing/store/schema.o $(O)/pricing/store/parsers.o $(O)/planner/bench/kernels.o: GT_CFLAGS += -I$(O)

$(O)/pricing/inventory/run_postgresql.o: GT_CFLAGS += $(LIBPQ)
$(O)/pricing/inventory/run_postgresql.o: $(O)/libpq-$(if $(LIBPQ),yes,no)
$(O)/libpq-%:
	@mkdir -p $(@D)
	@touch $@

# What makes rows of a vendor's bytes: after an upgrade that changes it, lists are asked for whole.
READERS := $(sort $(wildcard pricing/sources/*.[ch] pricing/http/*_walk.c)) \
  pricing/store/staging_put.c planner/base/offer.c
$(O)/pricing/store/parsers.h: $(READERS)
	@mkdir -p $(@D)
	@cat $(READERS) | sha256sum | sed 's/^\(.\{16\}\).*/"\1"/' > $@
$(O)/pricing/store/parsers.o: $(O)/pricing/store/parsers.h

-include $(OBJ:.o=.d) $(UNIT:=.d) $(O)/tui/main.d

include tests/tests.mk
.DELETE_ON_ERROR:
.SECONDARY:
