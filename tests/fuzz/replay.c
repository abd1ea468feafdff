/* Runs a fuzz target over files and folders of inputs, where no fuzzer is linked. */
#include "tests/fuzz/fuzz.h"

#include "common/mem.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

enum { PREFIXES_UP_TO = 4096 };

static struct {
    size_t inputs;
    size_t runs;
    size_t unread;
} count;

/* A copy of just this size, so that a sanitizer sees the first byte past the end. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = mem_alloc(size);

    if (size != 0)
        memcpy(copy, data, size);
    (void)fuzz_one(copy, size);
    free(copy);
    count.runs++;
}

static int replay(const char *path, const struct stat *st, int type, struct FTW *at)
{
    size_t size = (size_t)st->st_size;
    uint8_t *data;
    FILE *f;

    (void)at;
    if (type != FTW_F)
        return 0;
    /* Before the run: when it crashes, this is the last line. */
    (void)printf("%s\n", path);
    (void)fflush(stdout);
    data = mem_alloc(size);
    f = fopen(path, "rbe");
    if (f == NULL || fread(data, 1, size, f) != size) {
        count.unread++;
    } else {
        count.inputs++;
        run(data, size);
        for (size_t n = 0; n < size && size <= PREFIXES_UP_TO; n++)
            run(data, n);
    }
    if (f != NULL)
        (void)fclose(f);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], replay, 16, FTW_PHYS) != 0)
            count.unread++;
    (void)printf("%zu inputs, %zu runs, %zu unread\n", count.inputs, count.runs, count.unread);
    return count.inputs == 0 || count.unread != 0;
}
