// Counts, for each running node and memory node, the cache lines that miss a modelled last-level cache.
//
// A plugin of QEMU's emulator. Debian's QEMU 7.2 has the interface (version 1) but ships no header, so the few names
// that are used are declared here; the emulator resolves them when it loads the plugin.
//
// What is counted: loads and stores of user code, on a CPU that is between the marks ENTER and LEAVE, while a phase is
// open between the marks BEGIN and END. A mark is an eight-byte no-operation whose displacement holds a number; the
// database executes them (module `marks` of hardware-linux). Each socket has one cache, with least recently used
// lines replaced, loads and stores alike; it is empty when a phase begins. A line written by another socket stays.
//
// Arguments, lists with a colon between their items: out=FILE mib=LIST (memory of each node) sockets=LIST (socket of
// each node) cpus=LIST (node of each CPU) cache=KIB ways=N stride=N (the emulator reports an address of node n as the
// n-th node's start times N, plus the offset in it: 2 in version 7 and 8).

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

// What QEMU offers to plugins, as far as it is used here.
typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
enum { WITHOUT_REGISTERS = 0, LOADS_AND_STORES = 3 };
typedef void (*translated)(plugin_id, struct qemu_plugin_tb *);
typedef void (*executed)(unsigned, void *);
typedef void (*accessed)(unsigned, uint32_t, uint64_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translated);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed, int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed, int, int, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t, uint64_t);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *);
PUBLIC int qemu_plugin_version = 1;

enum { NODES_MAX = 64, CPUS_MAX = 64, LINE_BITS = 6 };
enum { ENTER = 1, LEAVE = 2, BEGIN = 3, END = 4 };
// The first half of the displacement of a mark; the second is one of the four above.
static const uint32_t MARK = 0x4E570000;
// Programs live in the lower half of the addresses, the kernel in the upper.
static const uint64_t USER_END = 1ull << 47;

struct cache {
    pthread_mutex_t lock;
    uint64_t *lines; // sets x ways, most recently used first; zero is empty, else line number plus one
};

static struct {
    uint64_t nodes, mib[NODES_MAX], sockets[NODES_MAX], start[NODES_MAX];
    uint64_t cpus, cpu_node[CPUS_MAX];
    uint64_t sets, ways, stride;
    FILE *out;
} model;

static struct cache caches[NODES_MAX];
static volatile bool phase_open;
static unsigned phases;
// Steps of workers that have begun and not ended: a second worker of a CPU may step while the first is preempted.
static volatile unsigned entered[CPUS_MAX];
// Counted by the CPU that runs, so that nobody shares a counter.
static uint64_t misses[CPUS_MAX][NODES_MAX + 1];
static uint64_t accesses[CPUS_MAX];

// The node of an address; one past the last for memory that is no node's (devices, firmware).
static uint64_t node_of(uint64_t address) {
    for (uint64_t node = 0; node < model.nodes; node++) {
        if (address - model.start[node] < model.mib[node] << 20) {
            return node;
        }
    }
    return model.nodes;
}

// Looks a line up and makes it the most recently used; true if it was not there.
static bool misses_cache(struct cache *cache, uint64_t line) {
    uint64_t *set = cache->lines + (line % model.sets) * model.ways;
    uint64_t tag = line + 1, at = 0;
    while (at + 1 < model.ways && set[at] != tag) {
        at++;
    }
    bool missed = set[at] != tag;
    memmove(set + 1, set, at * sizeof *set);
    set[0] = tag;
    return missed;
}

static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *unused) {
    (void)unused;
    if (!phase_open || cpu >= model.cpus || !entered[cpu]) {
        return;
    }
    struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(info, address);
    if (!place || qemu_plugin_hwaddr_is_io(place)) {
        return;
    }
    uint64_t first = qemu_plugin_hwaddr_phys_addr(place);
    uint64_t last = first + (1ull << qemu_plugin_mem_size_shift(info)) - 1;
    struct cache *cache = &caches[model.sockets[model.cpu_node[cpu]]];
    accesses[cpu]++;
    pthread_mutex_lock(&cache->lock);
    for (uint64_t line = first >> LINE_BITS; line <= last >> LINE_BITS; line++) {
        if (misses_cache(cache, line)) {
            misses[cpu][node_of(line << LINE_BITS)]++;
        }
    }
    pthread_mutex_unlock(&cache->lock);
}

static void begin_phase(void) {
    for (uint64_t socket = 0; socket < NODES_MAX; socket++) {
        if (caches[socket].lines) {
            memset(caches[socket].lines, 0, model.sets * model.ways * sizeof(uint64_t));
        }
    }
    memset(misses, 0, sizeof misses);
    memset(accesses, 0, sizeof accesses);
    memset((void *)entered, 0, sizeof entered);
    phase_open = true;
}

static void end_phase(void) {
    if (!phase_open) {
        return;
    }
    phase_open = false;
    uint64_t all = 0;
    for (uint64_t cpu = 0; cpu < model.cpus; cpu++) {
        all += accesses[cpu];
    }
    fprintf(model.out, "phase %u accesses %llu\n", ++phases, (unsigned long long)all);
    for (uint64_t from = 0; from < model.nodes; from++) {
        fprintf(model.out, "from %llu", (unsigned long long)from);
        for (uint64_t to = 0; to < model.nodes; to++) {
            uint64_t lines = 0;
            for (uint64_t cpu = 0; cpu < model.cpus; cpu++) {
                lines += model.cpu_node[cpu] == from ? misses[cpu][to] : 0;
            }
            fprintf(model.out, " %llu", (unsigned long long)lines);
        }
        fprintf(model.out, "\n");
    }
    fflush(model.out);
}

static void on_mark(unsigned cpu, void *mark) {
    switch ((uintptr_t)mark) {
    case ENTER:
        if (cpu < CPUS_MAX) {
            entered[cpu]++;
        }
        break;
    case LEAVE:
        // A step that began before the phase, or on another CPU, leaves nothing.
        if (cpu < CPUS_MAX && entered[cpu] > 0) {
            entered[cpu]--;
        }
        break;
    case BEGIN:
        begin_phase();
        break;
    case END:
        end_phase();
        break;
    }
}

// The number of a mark, zero if the instruction is none.
static uintptr_t mark_of(const struct qemu_plugin_insn *instruction) {
    static const unsigned char opcode[4] = {0x0f, 0x1f, 0x84, 0x00};
    const unsigned char *bytes = qemu_plugin_insn_data(instruction);
    uint32_t displacement;
    if (qemu_plugin_insn_size(instruction) != 8 || memcmp(bytes, opcode, sizeof opcode) != 0) {
        return 0;
    }
    memcpy(&displacement, bytes + sizeof opcode, sizeof displacement);
    return (displacement & 0xffff0000) == MARK ? displacement & 0xffff : 0;
}

static void on_translation(plugin_id id, struct qemu_plugin_tb *block) {
    (void)id;
    if (qemu_plugin_tb_vaddr(block) >= USER_END) {
        return;
    }
    size_t count = qemu_plugin_tb_n_insns(block);
    for (size_t at = 0; at < count; at++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, at);
        uintptr_t mark = mark_of(instruction);
        if (mark) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, WITHOUT_REGISTERS, (void *)mark);
        } else {
            qemu_plugin_register_vcpu_mem_cb(instruction, on_access, WITHOUT_REGISTERS, LOADS_AND_STORES, NULL);
        }
    }
}

// Reads "1:2:3" into a list of at most `room` items and gives back how many there are.
static uint64_t read_list(const char *text, uint64_t *list, uint64_t room) {
    uint64_t count = 0;
    while (*text && count < room) {
        char *end;
        list[count++] = strtoull(text, &end, 10);
        text = *end ? end + 1 : end;
    }
    return count;
}

static bool read_arguments(int count, char **arguments) {
    uint64_t cache_kib = 0, sockets = 0;
    for (int at = 0; at < count; at++) {
        char *value = strchr(arguments[at], '=');
        if (!value) {
            return false;
        }
        *value++ = 0;
        if (!strcmp(arguments[at], "out")) {
            model.out = fopen(value, "w");
        } else if (!strcmp(arguments[at], "mib")) {
            model.nodes = read_list(value, model.mib, NODES_MAX);
        } else if (!strcmp(arguments[at], "sockets")) {
            sockets = read_list(value, model.sockets, NODES_MAX);
        } else if (!strcmp(arguments[at], "cpus")) {
            model.cpus = read_list(value, model.cpu_node, CPUS_MAX);
        } else if (!strcmp(arguments[at], "cache")) {
            cache_kib = strtoull(value, NULL, 10);
        } else if (!strcmp(arguments[at], "ways")) {
            model.ways = strtoull(value, NULL, 10);
        } else if (!strcmp(arguments[at], "stride")) {
            model.stride = strtoull(value, NULL, 10);
        } else {
            return false;
        }
    }
    model.sets = model.ways ? (cache_kib << 10 >> LINE_BITS) / model.ways : 0;
    return model.out && model.sets && model.nodes && model.cpus && model.stride && sockets == model.nodes;
}

// Only the address of QEMU's description is passed; nothing in it is needed.
PUBLIC int qemu_plugin_install(plugin_id id, const void *info, int count, char **arguments) {
    (void)info;
    if (!read_arguments(count, arguments)) {
        fprintf(stderr, "the access counter does not understand its arguments\n");
        return 1;
    }
    uint64_t before = 0;
    for (uint64_t node = 0; node < model.nodes; node++) {
        model.start[node] = model.stride * before;
        before += model.mib[node] << 20;
        struct cache *cache = &caches[model.sockets[node] % NODES_MAX];
        if (!cache->lines) {
            cache->lines = calloc(model.sets * model.ways, sizeof(uint64_t));
            pthread_mutex_init(&cache->lock, NULL);
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    return 0;
}
