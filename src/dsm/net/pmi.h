/* The exchange of bytes and the barrier by the launcher itself, over the connection (PMI, version
 * 1) that it gives each process in PMI_FD. For MPICH's module.
 *
 * Problem: MPICH over UCX over TCP may hang in MPI_Finalize for ever once processes have exchanged
 * anything: one waits in UCX for the other to drive a connection's end, which that one does not do
 * any more (seen in every third run of two processes; also without libweir-dsm). Those that never
 * said anything to each other end well. Mechanism: what libweir-dsm has to exchange goes through
 * the launcher, which answers one line to each line; waiting for it costs no processor time.
 *
 * Invariant: lines are asked and answered one after the other, and MPICH's own are, too; so this
 * may use MPICH's connection between its calls. Keys are used once. (not checkable:
 * MPICH's own lines nobody sees) */
#ifndef WEIR_DSM_BOOTSTRAP_PMI_H
#define WEIR_DSM_BOOTSTRAP_PMI_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  kPmiLine = 2048,
  kPmiBytes = 400 /* in one value, two digits each: values have 1,023 characters at most */
};

static int pmi_connection = -1;
static char pmi_space[256]; /* name of the job's key-value space */
static unsigned pmi_exchange = 0;

/* Sends `line` and reads the answer into it, without the newline. 0: well. */
static int pmi_ask(char line[kPmiLine], const char* expected) {
  const size_t size = strlen(line);
  size_t done = 0;
  while (done < size) {
    const ssize_t sent = write(pmi_connection, line + done, size - done);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return 1;
    done += (size_t)sent;
  }
  done = 0;
  while (done == 0 || line[done - 1] != '\n') {
    const ssize_t got = read(pmi_connection, line + done, kPmiLine - 1 - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 1;
    done += (size_t)got;
    if (done == kPmiLine - 1) return 1;
  }
  line[done - 1] = 0;
  return strncmp(line, expected, strlen(expected)) != 0;
}

/* Whether there is such a launcher. */
static int pmi_start(void) {
  const char* descriptor = getenv("PMI_FD");
  if (!descriptor || !getenv("PMI_RANK") || !getenv("PMI_SIZE")) return 0;
  pmi_connection = atoi(descriptor);
  char line[kPmiLine] = "cmd=get_my_kvsname\n";
  if (pmi_ask(line, "cmd=my_kvsname ")) return 0;
  const char* name = strstr(line, "kvsname=");
  return name && sscanf(name, "kvsname=%255s", pmi_space) == 1;
}

static int pmi_barrier(void) {
  char line[kPmiLine] = "cmd=barrier_in\n";
  return pmi_ask(line, "cmd=barrier_out");
}

static int pmi_allgather(const void* mine, void* all, int bytes, int node, int nodes) {
  const unsigned exchange = pmi_exchange++;
  char line[kPmiLine];
  for (int at = 0; at < bytes; at += kPmiBytes) {
    int length =
        snprintf(line, sizeof line, "cmd=put kvsname=%s key=weir-%u-%d-%d value=", pmi_space,
                 exchange, node, at);
    for (int i = at; i < bytes && i < at + kPmiBytes; i++)
      length += sprintf(line + length, "%02x", ((const unsigned char*)mine)[i]);
    strcpy(line + length, "\n");
    if (pmi_ask(line, "cmd=put_result rc=0")) return 1;
  }
  if (pmi_barrier()) return 1;
  for (int from = 0; from < nodes; from++) {
    unsigned char* to = (unsigned char*)all + (size_t)from * (size_t)bytes;
    for (int at = 0; at < bytes; at += kPmiBytes) {
      snprintf(line, sizeof line, "cmd=get kvsname=%s key=weir-%u-%d-%d\n", pmi_space, exchange,
               from, at);
      if (pmi_ask(line, "cmd=get_result rc=0")) return 1;
      const char* digits = strstr(line, "value=");
      if (!digits) return 1;
      digits += strlen("value=");
      for (int i = at; i < bytes && i < at + kPmiBytes; i++, digits += 2) {
        unsigned byte;
        if (sscanf(digits, "%2x", &byte) != 1) return 1;
        to[i] = (unsigned char)byte;
      }
    }
  }
  return 0;
}

#endif
