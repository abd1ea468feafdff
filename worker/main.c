/* errand-worker: serves the tools of the files of --tools. */
#include "worker/boot.h"

int main(int argc, char **argv)
{
    return worker_boot(argc, argv, NULL, 0);
}
